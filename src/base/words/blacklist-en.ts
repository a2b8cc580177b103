/** How a number came on the blacklist: on the page and in its file. */
export const sources = {
  'blacklist.source.STOP': 'Asked to stop',
  'blacklist.source.API': 'By the API',
  'blacklist.source.STAFF': 'By Tidings staff',
  'blacklist.source.CABINET': 'Added by hand',
  'blacklist.source.FILE': 'From a file',
  'blacklist.source.unknown': 'Not known',
} as const

export const sources = {
  'blacklist.source.STOP': 'Попросил не писать',
  'blacklist.source.API': 'Через API',
  'blacklist.source.STAFF': 'Сотрудник Tidings',
  'blacklist.source.CABINET': 'Добавлен вручную',
  'blacklist.source.FILE': 'Из файла',
  'blacklist.source.unknown': 'Неизвестно',
} as const

/** As browsers write it: what is copied from the address bar may end with a slash or name the usual port. */
export function originOf(text: string): string {
  const url = URL.parse(text)
  const isBare = url !== null && url.pathname === '/' && url.search === '' && url.hash === '' && url.username === ''
  return isBare && /^https?:$/.test(url.protocol) ? url.origin : text
}

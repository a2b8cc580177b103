/** The origin as browsers write it. A copied address may end with a slash or contain the default port. */
export function originOf(text: string): string {
  const url = URL.parse(text)
  const isBare = url !== null && url.pathname === '/' && url.search === '' && url.hash === '' && url.username === ''
  return isBare && /^https?:$/.test(url.protocol) ? url.origin : text
}

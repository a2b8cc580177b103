/** RFC 3986, http or https; a login and password, an address and a port are allowed. */
export function isHttpUrl(text: string): boolean {
  return /^https?:\/\/[\w\-.~:/?#[\]@!$&'()*+,;=%]+$/i.test(text) && URL.canParse(text)
}

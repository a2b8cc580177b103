/** Recovery codes are kept with a hyphen in the middle, and typed without. */
export const withHyphen = (code: string) => code.trim().replace(/^([a-z0-9]{5})\s*([a-z0-9]{5})$/i, '$1-$2')

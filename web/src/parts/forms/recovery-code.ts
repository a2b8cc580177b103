/** Stored recovery codes have a hyphen in the middle. People may type them without it. */
export const withHyphen = (code: string) => code.trim().replace(/^([a-z0-9]{5})\s*([a-z0-9]{5})$/i, '$1-$2')

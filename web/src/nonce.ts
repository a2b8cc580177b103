declare global {
  var __webpack_nonce__: string | undefined
}

/** The page's policy allows styles with this nonce alone. Libraries that write styles look for it in a global name. */
export function publishNonce(): string {
  const nonce = document.querySelector<HTMLMetaElement>('meta[property=csp-nonce]')?.nonce ?? ''
  globalThis.__webpack_nonce__ = nonce
  return nonce
}

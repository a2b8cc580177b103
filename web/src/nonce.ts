declare global {
  var __webpack_nonce__: string | undefined
}

/**
 * The Content-Security-Policy of the page allows only styles with this nonce. Libraries that write styles read it from
 * a global variable.
 */
export function publishNonce(): string {
  const nonce = document.querySelector<HTMLMetaElement>('meta[property=csp-nonce]')?.nonce ?? ''
  globalThis.__webpack_nonce__ = nonce
  return nonce
}

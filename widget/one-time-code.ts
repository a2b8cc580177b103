interface OtpRequest extends CredentialRequestOptions {
  otp: { transport: ['sms'] }
}

/**
 * WebOTP: the browser of a phone reads the code from an SMS that ends with this page's host. Resolves at most once. The
 * visitor types the code if the browser has no WebOTP, or if the visitor refuses.
 */
export function readCodeFromSms(signal: AbortSignal): Promise<string> | undefined {
  if (!('OTPCredential' in window)) return undefined
  const request: OtpRequest = { otp: { transport: ['sms'] }, signal }
  return navigator.credentials.get(request).then(credential => (credential as unknown as { code: string }).code)
}

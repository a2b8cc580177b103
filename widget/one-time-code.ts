interface OtpRequest extends CredentialRequestOptions {
  otp: { transport: ['sms'] }
}

/**
 * WebOTP: the browser of a phone reads the code from an SMS that ends with this page's host. Gives the code at most
 * once; browsers without it, or visitors who refuse, type the code.
 */
export function readCodeFromSms(signal: AbortSignal): Promise<string> | undefined {
  if (!('OTPCredential' in window)) return undefined
  const request: OtpRequest = { otp: { transport: ['sms'] }, signal }
  return navigator.credentials.get(request).then(credential => (credential as unknown as { code: string }).code)
}

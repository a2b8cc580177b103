import { boxKey, open, seal } from '../../base/secret-box.ts'

const keyOf = (secret: string) => boxKey(secret, 'captcha secrets')

/** Encrypts what the captcha's provider gave, with the secret of the service. */
export const sealCaptchaSecret = (secret: string, captchaSecret: string): Buffer => seal(keyOf(secret), captchaSecret)

/** Throws when it was sealed with another secret of the service. */
export const openCaptchaSecret = (secret: string, sealed: Buffer): string => open(keyOf(secret), sealed)

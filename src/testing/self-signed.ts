import { generateKeyPairSync, sign } from 'node:crypto'

/** A self-signed certificate with as few X.509 fields as possible. */
export function selfSigned(name: string): { key: string; cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  const der = (tag: number, ...parts: Buffer[]): Buffer => {
    const content = Buffer.concat(parts)
    const size = content.length
    return Buffer.concat([Buffer.from(size < 128 ? [tag, size] : [tag, 0x82, size >> 8, size & 255]), content])
  }
  const sequence = (...parts: Buffer[]) => der(0x30, ...parts)
  const ecdsaWithSha256 = sequence(der(0x06, Buffer.from('2a8648ce3d040302', 'hex')))
  const commonName = sequence(der(0x06, Buffer.from('550403', 'hex')), der(0x0c, Buffer.from(name)))
  const subject = sequence(der(0x31, commonName))
  const time = (text: string) => der(0x17, Buffer.from(text))
  const toSign = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    ecdsaWithSha256,
    subject,
    sequence(time('200101000000Z'), time('491231235959Z')),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
  )
  const signature = der(0x03, Buffer.from([0]), sign('sha256', toSign, privateKey))
  const cert = sequence(toSign, ecdsaWithSha256, signature)
    .toString('base64')
    .match(/.{1,64}/g)!
    .join('\n')
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    cert: `-----BEGIN CERTIFICATE-----\n${cert}\n-----END CERTIFICATE-----\n`,
  }
}

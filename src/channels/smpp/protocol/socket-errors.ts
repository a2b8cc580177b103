import { plainWords } from '../../../base/content/plain-words.ts'

type SocketError = Error & { code?: string; host?: string; cert?: { subjectaltname?: string } }

const UNKNOWN_AUTHORITY =
  'the certificate of the other side was signed by an authority that is not trusted here: set tlsCa to the certificate of that authority'
const NO_TLS =
  'the other side does not speak TLS on this port: check the port, or set tls=false when the operator offers no TLS'
const OLD_TLS = 'the other side and this one have no version of TLS in common: the operator must offer TLS 1.2 or 1.3'
const NO_COMMON_CIPHER =
  'the other side and this one have no cipher in common: ask the operator which ciphers it offers'
const CLIENT_CERTIFICATE =
  'the other side asks for a certificate of the client, and Tidings has none to show: ask the operator to allow connections without it'

/** The problem and the remedy, by the code of Node.js or OpenSSL. The message ends with the code, for searches. */
const WORDS: Record<string, string> = {
  CERT_HAS_EXPIRED:
    'the certificate of the other side has expired: the operator must renew it (and the clock of this machine must be right)',
  CERT_NOT_YET_VALID:
    'the certificate of the other side is not valid yet: check the clock of this machine, then ask the operator',
  CERT_REVOKED: 'the certificate of the other side was revoked: ask the operator for another',
  DEPTH_ZERO_SELF_SIGNED_CERT:
    'the certificate of the other side is self-signed: set tlsCa to that certificate, after comparing it with the operator',
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_AUTHORITY,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_AUTHORITY,
  CERT_SIGNATURE_FAILURE: UNKNOWN_AUTHORITY,
  ERR_SSL_WRONG_VERSION_NUMBER: NO_TLS,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: NO_TLS,
  ERR_SSL_UNKNOWN_PROTOCOL: NO_TLS,
  ERR_SSL_HTTP_REQUEST: NO_TLS,
  ERR_SSL_UNSUPPORTED_PROTOCOL: OLD_TLS,
  ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: OLD_TLS,
  ERR_SSL_VERSION_TOO_LOW: OLD_TLS,
  ERR_SSL_NO_SHARED_CIPHER: NO_COMMON_CIPHER,
  ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE: NO_COMMON_CIPHER,
  ERR_SSL_SSL_TLS_ALERT_HANDSHAKE_FAILURE: NO_COMMON_CIPHER,
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: CLIENT_CERTIFICATE,
  ERR_SSL_TLS_ALERT_CERTIFICATE_REQUIRED: CLIENT_CERTIFICATE,
}

/** Why a connection failed, in words for operators of Tidings. Errors without TLS keep the message of Node.js. */
export function socketErrorReason(error: SocketError): string {
  const { code = '' } = error
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return wrongName(error)
  if (WORDS[code]) return `${WORDS[code]} (${code})`
  if (code === 'ECONNRESET' && /before secure TLS connection/.test(error.message)) return endedInHandshake(code)
  if (/^CERT_|_CERT|^ERR_TLS_|^INVALID_|^PATH_LENGTH|^HOSTNAME_/.test(code))
    return `the certificate of the other side does not hold: ask the operator (${code})`
  if (/^ERR_SSL_|^EPROTO$/.test(code))
    return `the TLS connection failed: ask the operator which TLS it offers (${code})`
  return error.message
}

function wrongName({ code, host, cert }: SocketError): string {
  const names = plainWords(cert?.subjectaltname ?? '')
  const wanted = host ? `"${plainWords(host)}"` : 'the name of the host'
  return `the certificate of the other side is not for ${wanted}, but for ${names || 'no name'}: set tlsServerName to a name in it that the operator confirms (${code})`
}

const endedInHandshake = (code: string) =>
  `the other side closed the connection before TLS was agreed upon: it may not speak TLS on this port, or not with us (${code})`

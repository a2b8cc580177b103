import { UsageError } from '../errors.ts'

export type SmtpServer = {
  host: string
  port: number
  /** `direct`: TLS from the first byte. `starttls`: required before anything is sent. */
  tls: 'direct' | 'starttls' | 'none'
  user: string | undefined
  password: string | undefined
}

const USUAL_PORTS = { direct: 465, starttls: 587, none: 25 }

/** Reads `smtp://user:password@host:587`, `smtps://user:password@host:465` or `smtp://host:25?tls=off`. */
export function readSmtpServer(text: string, name: string): SmtpServer {
  const url = URL.parse(text)
  const user = url && decoded(url.username)
  const password = url && decoded(url.password)
  if (!url || user === undefined || password === undefined || !hasOnlyKnownParts(url)) throw unreadable(name)
  if ((user === '') !== (password === '')) throw new UsageError(`${name} must have a user and a password, or neither.`)
  const tls = url.protocol === 'smtps:' ? 'direct' : url.search === '' ? 'starttls' : 'none'
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  if (tls === 'none' && user !== '' && !isThisMachine(host)) {
    throw new UsageError(`${name} has a password, which ?tls=off would send without encryption to another machine.`)
  }
  return {
    host,
    port: Number(url.port) || USUAL_PORTS[tls],
    tls,
    user: user || undefined,
    password: password || undefined,
  }
}

/** A `/`, `#` or `?` in the password would end the address too early, so that the rest is read as another part. */
const hasOnlyKnownParts = ({ protocol, hostname, port, pathname, search, hash }: URL) =>
  /^smtps?:$/.test(protocol) &&
  hostname !== '' &&
  port !== '0' &&
  /^\/?$/.test(pathname) &&
  (search === '' || (search === '?tls=off' && protocol === 'smtp:')) &&
  hash === ''

/** Without the value, which has a password. */
const unreadable = (name: string) =>
  new UsageError(
    `${name} must be smtp://user:password@host:587 or smtps://user:password@host:465, with ?tls=off only after smtp; signs such as @ / # % in its password are written as %40 %2F %23 %25.`,
  )

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

const isThisMachine = (host: string) => host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host)

import { UsageError } from './errors.ts'

/** A server by name and port, or by the path of its socket. */
export type Host = { host: string; port: number; path?: string }

/** The servers of an address that may be used, by the words of libpq. */
export type Target = 'any' | 'read-write' | 'primary' | 'standby' | 'prefer-standby'

/** TLS by the words of libpq. */
export type Tls = {
  mode: 'allow' | 'prefer' | 'require' | 'verify-ca' | 'verify-full'
  /** The TLS handshake comes first, without asking the server whether it has TLS (PostgreSQL 17). */
  isDirect: boolean
  /** Paths of files in PEM: the authorities to trust instead of the usual ones, our own certificate and its key. */
  rootFile: string | undefined
  certificateFile: string | undefined
  keyFile: string | undefined
}

export type DatabaseAddress = {
  hosts: Host[]
  /** Undefined when the address does not state it. */
  target: Target | undefined
  /** Undefined without TLS. */
  tls: Tls | undefined
  /** The address for the driver: without the parts that this module reads. */
  driverUrl: string
}

const TARGETS: readonly string[] = ['any', 'read-write', 'primary', 'standby', 'prefer-standby']
const USUAL_PORT = '5432'
const NOT_TAKEN = ['hostaddr', 'load_balance_hosts', 'service', 'passfile', 'sslpassword', 'sslcrl', 'sslcrldir']
const TLS_MODES: readonly string[] = ['allow', 'prefer', 'require', 'verify-ca', 'verify-full']
const READ_HERE = ['host', 'port', 'target_session_attrs']
const NEED_MODE = ['sslrootcert', 'sslcert', 'sslkey', 'sslnegotiation']
const READ_FOR_TLS = ['ssl', 'sslmode', ...NEED_MODE]
/** The driver has no channel binding, and the server would take the word for a setting of its own. */
const NOT_USED = ['channel_binding']

/**
 * Reads an address as the programs of PostgreSQL do: `postgres://user:password@a:5432,b:5433/name`, or with `host=a,b`
 * and `port=5432,5433` after the question mark. A host that begins with a slash is the folder of a socket. The driver
 * reads several hosts, `host=` and `target_session_attrs` otherwise or not at all
 * (https://github.com/porsager/postgres/issues/815), so it gets one host, and `ServerChoice` chooses. It sends
 * `sslrootcert` to the server as a setting and takes unknown words of `sslmode`, so `db/tls.ts` does TLS.
 */
export function readDatabaseAddress(url: string): DatabaseAddress {
  const { scheme, user, hosts, path, query } = partsOf(url)
  const notTaken = NOT_TAKEN.find(name => query.has(name))
  if (notTaken) throw new UsageError(`The address of the database has ${notTaken}, which Tidings does not know.`)
  const all = hostsOf(query.get('host') ?? hosts, query.get('port') ?? portsOf(hosts))
  const target = targetOf(query.get('target_session_attrs'))
  const tls = tlsOf(query)
  for (const name of [...READ_HERE, ...READ_FOR_TLS, ...NOT_USED]) query.delete(name)
  const rest = query.size > 0 ? `?${query}` : ''
  return { hosts: all, target, tls, driverUrl: `${scheme}//${user}localhost${path}${rest}` }
}

/** Whether each host is asked for its role, over a connection of its own. */
export const isWatched = ({ hosts, target }: Pick<DatabaseAddress, 'hosts' | 'target'>): boolean =>
  hosts.length > 1 || target !== undefined

/** The settings of the driver for one of the hosts. */
export const driverHost = ({ host, port, path }: Host) => ({ host, port, ...(path ? { path } : {}) })

/** `a:5432,b:5433/name`: the address for people, without user and password. */
export function placeOf(url: string): string {
  const { hosts } = readDatabaseAddress(url)
  const [first] = hosts
  if (hosts.length === 1 && first?.path) return first.path
  return hosts.map(nameOf).join(',') + partsOf(url).path
}

export const nameOf = ({ host, port, path }: Host): string =>
  path ?? `${host.includes(':') ? `[${host}]` : host}:${port}`

/** The password may contain an @, so the last one counts. */
function partsOf(url: string) {
  const [, scheme = '', authority = '', path = '', search = ''] = /^(\w+:)\/\/([^/?]*)([^?]*)(.*)$/s.exec(url) ?? []
  const userEnd = authority.lastIndexOf('@') + 1
  const query = new URLSearchParams(search)
  return { scheme, user: authority.slice(0, userEnd), hosts: authority.slice(userEnd), path, query }
}

/** `host=` replaces the hosts and leaves their ports. */
const portsOf = (hosts: string) =>
  hosts
    .split(',')
    .map(host => /:(\d*)$/.exec(host)?.[1] ?? '')
    .join(',')

function hostsOf(text: string, ports: string): Host[] {
  const names = decodeURIComponent(text).split(',')
  const portOf = portsFor(names.length, ports)
  return names.map((name, i) => hostOf(name, portOf(i)))
}

/** There is one port for each host, or one for all. */
function portsFor(count: number, ports: string): (place: number) => string {
  const list = ports.split(',')
  if (list.length > 1 && list.length !== count) {
    throw new UsageError(`The address of the database has ${count} hosts and ${list.length} ports.`)
  }
  return place => list[list.length === 1 ? 0 : place] || USUAL_PORT
}

function hostOf(name: string, usualPort: string): Host {
  if (name.startsWith('/')) {
    return { host: 'localhost', port: Number(usualPort), path: `${name}/.s.PGSQL.${usualPort}` }
  }
  const [, six, other, own] = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::(\d*))?$/.exec(name) ?? []
  const host = six ?? other
  const port = Number(own || usualPort)
  if (host === undefined || !(port >= 1 && port <= 65_535)) {
    // Without the host: with a wrong address it may be a part of the password.
    throw new UsageError('The address of the database has a host or port that cannot be read.')
  }
  return { host: host || 'localhost', port }
}

function targetOf(text: string | null): Target | undefined {
  if (text === null) return
  if (TARGETS.includes(text)) return text as Target
  throw new UsageError(
    `target_session_attrs of the address of the database must be one of ${TARGETS.join(', ')}, not "${text}".`,
  )
}

/** Without a word there is no TLS. With authorities to trust, `require` also checks the certificate, as in libpq. */
function tlsOf(query: URLSearchParams): Tls | undefined {
  const root = query.get('sslrootcert') ?? undefined
  const isDirect = isDirectOf(query.get('sslnegotiation'))
  const word = query.get('sslmode') ?? query.get('ssl')
  const alone = NEED_MODE.find(name => query.has(name))
  if (word === null && alone && root !== SYSTEM) {
    throw new UsageError(`The address of the database has ${alone} and no sslmode.`)
  }
  const mode = modeOf(word, root)
  if (mode === undefined) return
  return {
    mode: mode === 'require' && root ? 'verify-ca' : mode,
    isDirect,
    rootFile: root === SYSTEM ? undefined : root,
    certificateFile: query.get('sslcert') ?? undefined,
    keyFile: query.get('sslkey') ?? undefined,
  }
}

function isDirectOf(text: string | null): boolean {
  if (text === null || text === 'postgres' || text === 'direct') return text === 'direct'
  throw new UsageError(`sslnegotiation of the address of the database must be postgres or direct, not "${text}".`)
}

/** `sslrootcert=system`: the authorities that Node.js trusts. */
const SYSTEM = 'system'

function modeOf(text: string | null, root: string | undefined): Tls['mode'] | undefined {
  if (root === SYSTEM) return 'verify-full'
  if (text === null || text === 'disable' || text === 'false') return
  if (text === 'true') return 'verify-full' // the word of the driver: ssl=true
  if (TLS_MODES.includes(text)) return text as Tls['mode']
  throw new UsageError(
    `sslmode of the address of the database must be one of disable, ${TLS_MODES.join(', ')}, not "${text}".`,
  )
}

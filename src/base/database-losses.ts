/** The errors that mean that the database cannot be reached. All code that retries such errors uses this list. */

/** An open connection ended, and this process had not closed it. */
const LOST = [
  'CONNECTION_CLOSED',
  'CONNECTION_DESTROYED',
  'CONNECTION_ENDED',
  'ECONNABORTED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  '08003', // the connection does not exist
  '08006', // the connection failed
  '57P01', // terminated by the administrator
  '57P02', // the server crashed
  '57P03', // the server is starting or stopping
  '57P04', // the database was dropped
  '57P05', // idle for too long
  '25P03', // idle inside a transaction for too long
  '25P04', // a transaction took too long
]

/** A new connection could not be opened. */
const NOT_MADE = [
  'CONNECT_TIMEOUT',
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  '08000',
  '08001', // the server cannot be reached
  '08004', // the server refuses
  '53300', // too many connections
]

/** The server takes no changes: it is a standby now, and another server is the primary. The connection lives. */
const READ_ONLY = '25006'

const lost = new Set(LOST)
const away = new Set([...LOST, ...NOT_MADE, READ_ONLY])

const codeOf = (error: unknown) => (error as { code?: string } | null | undefined)?.code ?? ''

/**
 * An open connection was lost. False when only a new connection could not be opened. The coordinator of a Citus cluster
 * reports a lost worker with the same codes as an error of the statement: then its own connection lives.
 */
export const isConnectionLost = (error: unknown) => lost.has(codeOf(error)) && severityOf(error) !== 'ERROR'

const severityOf = (error: unknown) => (error as { severity?: string } | null | undefined)?.severity

/**
 * One worker of a Citus cluster cannot be reached, as its coordinator reports. Statements about companies of other workers
 * still succeed.
 */
export const isNodeAway = (error: unknown) => lost.has(codeOf(error)) && severityOf(error) === 'ERROR'

/** The database cannot be reached. The error says nothing about the statement. */
export const isDatabaseAway = (error: unknown) => away.has(codeOf(error))

/** The authorization of PostgreSQL (28), a database that is not there (3D), and the errors of TLS in Node.js. */
const REFUSED = /^(28|3D|ERR_(TLS|SSL|OSSL)_|CERT_|CRL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|INVALID_|HOSTNAME_)/

/**
 * The server is there and refuses a new connection: a wrong password, or a certificate that is not trusted. Retries do not
 * help, but another server may answer.
 */
export const isConnectionRefused = (error: unknown) => REFUSED.test(codeOf(error))

/** Another transaction blocked the statement, or it took too long. It has no effect and may be repeated. */
const busy = new Set([
  '55P03', // the lock time-out
  '57014', // cancelled, or the statement time-out
  '40P01', // a deadlock
  '40001', // a serialization failure
])

export const isDatabaseBusy = (error: unknown) => busy.has(codeOf(error))

/**
 * The error comes from the state of the database and not from the statement, by the class of its SQLSTATE: read-only
 * after a switch-over (25), deadlocks (40), out of disk or memory (53), locks (55), cancelled by an administrator (57),
 * disk errors (58).
 */
export const isPassing = (error: unknown) => isDatabaseAway(error) || /^(25|40|53|55|57|58)/.test(codeOf(error))

/** The ways in which a database goes away: one list for all who must tell them from a mistake. */

/** An open connection ended without anyone here having asked for it. */
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
]

/** No connection came about. */
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

const lost = new Set(LOST)
const away = new Set([...LOST, ...NOT_MADE])

const codeOf = (error: unknown) => (error as { code?: string } | null | undefined)?.code ?? ''

/** The connection was there and is gone. Not so when another one, asked for meanwhile, did not come about. */
export const isConnectionLost = (error: unknown) => lost.has(codeOf(error))

/** The database cannot be reached: nothing was said about the request itself. */
export const isDatabaseAway = (error: unknown) => away.has(codeOf(error))

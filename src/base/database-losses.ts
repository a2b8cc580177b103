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
  '25P03', // idle inside a transaction for too long
  '25P04', // a transaction took too long
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

/** Somebody else was in the way, or it took too long: what was asked for is not done, and may be asked for again. */
const busy = new Set([
  '55P03', // a lock was not to be had in time
  '57014', // cancelled, or longer than it may take
  '40P01', // a deadlock
  '40001', // it could not be put in an order with others
])

export const isDatabaseBusy = (error: unknown) => busy.has(codeOf(error))

/**
 * Of the database's state, not of what we write, by the class of its SQLSTATE: read-only after a switch-over (25),
 * deadlocks and the like (40), out of disk or memory (53), locks (55), cancelled by somebody (57), broken disks (58).
 */
export const isPassing = (error: unknown) => isDatabaseAway(error) || /^(25|40|53|55|57|58)/.test(codeOf(error))

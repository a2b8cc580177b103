/**
 * The action of a timer: `send` puts the message into its lane, `complete` fails it if it is not sent, `unread` reports that the
 * subscriber did not read it, `step` starts the next step of its cascade. `expire` fails it if it is not delivered; programs
 * before the migration 28 wrote it, and messages have an expiry instead.
 */
export type TimerKind = 'send' | 'complete' | 'expire' | 'unread' | 'step'

export type Timer = { uuid: string; kind: TimerKind; dueAt: Date }

/** The common end of messages that were accepted together. Messages with another end may lie between the two uuids. */
export type Expiry = { firstUuid: string; lastUuid: string; messageCount: number; dueAt: Date }

export type DueExpiry = Expiry & { companyId: number }

export type DueTimer = { companyId: number; uuid: string; kind: TimerKind }

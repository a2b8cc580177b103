/**
 * What is to happen to one message at a moment of its own: `send` puts it into its lane, `complete` ends it if it has
 * not been sent, `expire` ends it if it has not arrived, `unread` tells that nobody read it, `step` goes on to the next
 * step of its cascade.
 */
export type TimerKind = 'send' | 'complete' | 'expire' | 'unread' | 'step'

export type Timer = { uuid: string; kind: TimerKind; dueAt: Date }

export type DueTimer = { companyId: number; uuid: string; kind: TimerKind }

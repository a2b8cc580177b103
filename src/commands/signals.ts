/** The signals by which a terminal or a supervisor ends a process. */
export const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

/** The default stop words. A message that consists of one of them puts its sender on the blacklist. */
export const STOP_WORDS = ['STOP', 'СТОП', 'UNSUBSCRIBE'] as const

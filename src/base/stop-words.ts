/** By which a subscriber who writes nothing else asks for no more, unless the configuration says otherwise. */
export const STOP_WORDS = ['STOP', 'СТОП', 'UNSUBSCRIBE'] as const

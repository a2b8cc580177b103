/** Of the service and of the engine: the engine opens the texts that the service sealed. */
export const secret = 'a secret of the benches, 32 or longer'

/**
 * An engine keeps its messages for some tenths of a second, longer than the collections of a young generation of 16 MB are
 * apart. With 32 MB fewer messages are copied and become old: a fifth less processor time of the engine for a message
 * (`npm run bench -- engine`). `bin/tidings` has the same number for `tidings engine`.
 */
export const ENGINE_MEMORY = '--max-semi-space-size=32'

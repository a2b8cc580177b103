/** What became of a flash call, as the client tells: whether the subscriber typed the code that it showed. */
export const flashcallResults = ['NUMBER_VERIFIED', 'WRONG_CODE'] as const

export type FlashcallResult = (typeof flashcallResults)[number]

/** `code`: what the subscriber typed, where the client says so. */
export type FlashcallReport = { uuid: string; result: FlashcallResult; code: string | undefined }

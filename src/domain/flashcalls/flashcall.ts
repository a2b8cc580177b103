/** The result of a flash call that the client reports: whether the subscriber entered the code. */
export const flashcallResults = ['NUMBER_VERIFIED', 'WRONG_CODE'] as const

export type FlashcallResult = (typeof flashcallResults)[number]

/** `code`: what the subscriber typed, where the client says so. */
export type FlashcallReport = { uuid: string; result: FlashcallResult; code: string | undefined }

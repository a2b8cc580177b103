import type { Language } from '../../src/domain/people/person.ts'

/** Of the pages; the server knows the same. */
export const languages: Language[] = ['en', 'ru']

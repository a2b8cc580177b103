import type { Language } from '../../src/domain/people/person.ts'

/** The languages of the cabinet. The server knows the same languages. */
export const languages: Language[] = ['en', 'ru']

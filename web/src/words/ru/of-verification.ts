import type { FurtherWords } from '../words.ts'
import { verification as texts } from './verification.ts'

/** Words of the pages of verification. Loaded with the first of them. */
export const verification: FurtherWords['verification'] = texts

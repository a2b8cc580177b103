import type { FurtherWords } from '../dictionary.ts'
import { verification as texts } from './verification.ts'

/** Words of the verification pages. Loaded with the first of these pages. */
export const verification: FurtherWords['verification'] = texts

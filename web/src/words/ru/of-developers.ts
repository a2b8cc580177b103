import type { FurtherWords } from '../dictionary.ts'
import { developers as texts } from './developers.ts'

/** Words of the pages for developers. Loaded with the first of these pages. */
export const developers: FurtherWords['developers'] = texts

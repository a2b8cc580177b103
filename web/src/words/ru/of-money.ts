import type { FurtherWords } from '../dictionary.ts'
import { money as texts } from './money.ts'

/** Words of the money pages. Loaded with the first of these pages. */
export const money: FurtherWords['money'] = texts

import type { FurtherWords } from '../dictionary.ts'
import { audit } from './audit.ts'
import { fileMistakes } from './file-mistakes.ts'
import { gateways } from './gateways.ts'
import { health } from './health.ts'
import { numbering } from './numbering.ts'
import { tariffs } from './tariffs.ts'

/** Words of the pages for the staff. Loaded with the first of these pages. */
export const service: FurtherWords['service'] = {
  ...audit,
  ...fileMistakes,
  ...gateways,
  ...health,
  ...numbering,
  ...tariffs,
}

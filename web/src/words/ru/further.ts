import type { FurtherWords } from '../words.ts'
import { audit } from './audit.ts'
import { blacklist } from './blacklist.ts'
import { companies } from './companies.ts'
import { developers } from './developers.ts'
import { documents } from './documents.ts'
import { gateways } from './gateways.ts'
import { health } from './health.ts'
import { inbound } from './inbound.ts'
import { links } from './links.ts'
import { money } from './money.ts'
import { numbering } from './numbering.ts'
import { review } from './review.ts'
import { senders } from './senders.ts'
import { tariffs } from './tariffs.ts'
import { templates } from './templates.ts'
import { verification } from './verification.ts'

/** Words of pages that are not opened every day: loaded with the first of them. */
export const further: FurtherWords = {
  ...audit,
  ...blacklist,
  ...companies,
  ...developers,
  ...documents,
  ...gateways,
  ...health,
  ...inbound,
  ...links,
  ...money,
  ...numbering,
  ...review,
  ...senders,
  ...tariffs,
  ...templates,
  ...verification,
}

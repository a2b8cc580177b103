import { blacklist } from './blacklist.ts'
import { companies } from './companies.ts'
import { documents } from './documents.ts'
import { inbound } from './inbound.ts'
import { links } from './links.ts'
import { review } from './review.ts'
import { senders } from './senders.ts'
import { templates } from './templates.ts'

/** Words of the pages that manage a company, except money and developers. Loaded with the first of these pages. */
export const company = {
  ...blacklist,
  ...companies,
  ...documents,
  ...inbound,
  ...links,
  ...review,
  ...senders,
  ...templates,
} as const

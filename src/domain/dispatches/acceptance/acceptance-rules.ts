import type { ChannelType, TrafficType } from '../../../base/channel-types.ts'
import type { Content } from '../../../base/content/content.ts'
import type { TextTemplate } from '../../../base/content/text-template.ts'
import type { PriceBook } from '../../pricing/pricing.ts'
import type { Routing } from '../../routing/routing.ts'
import type { Effort } from '../../templates/effort.ts'
import type { ApprovedTemplate } from '../../templates/matching.ts'
import type { ZoneOf } from './schedule.ts'
import type { FillContent } from './step-content.ts'

/** The settings and lists that decide whether a recipient is accepted. They are read before the first recipient. */
export type AcceptanceRules = {
  channelType: ChannelType
  trafficType: TrafficType
  template: TextTemplate
  /** The approved template of the dispatch. A text that does not match it gets the default traffic type. */
  approvedTemplate?: ApprovedTemplate | undefined
  /** The limit of the work for matching the texts of the request with the approved template. */
  effort?: Effort | undefined
  /** The content of the messages beyond their texts. */
  content?: Content | null
  /** Fills the content for one recipient, if the content has placeholders. */
  fillContent?: FillContent | undefined
  /** The later steps of a cascade. A recipient that cannot get one of them is rejected. */
  laterSteps: LaterStep[]
  routing: Routing
  prices: PriceBook
  blacklisted: Set<string>
  /** The time zone of a number, if the dispatch has local times. */
  zoneOf?: ZoneOf | undefined
  /** The address before the code of a short link, if the dispatch shortens links. */
  linkBase?: string | undefined
}

export type LaterStep = {
  channelType: ChannelType
  template: TextTemplate
  content?: Content | null
  fillContent?: FillContent | undefined
  /** The registered template that the content names by its id. The parameters of the content must match it. */
  named?: ApprovedTemplate | undefined
}

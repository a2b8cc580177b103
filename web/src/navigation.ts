import type { IconName } from './parts/content/icon.tsx'
import type { Me, Right } from './session.ts'
import type { Key } from './words/dictionary.ts'

/** A page with its icon and the right that it requires. */
export type NavigationPage = {
  to: string
  label: Exclude<Extract<Key, `nav.${string}`>, 'nav.accountMenu'>
  icon: IconName
  needs?: Right
}

/** Pages of the same subject. The first group has no heading. */
export type NavigationGroup = {
  heading?: Extract<Key, `nav.group.${string}`>
  pages: NavigationPage[]
}

const traffic: NavigationPage[] = [
  { to: '/overview', label: 'nav.overview', icon: 'home', needs: 'traffic.see' },
  { to: '/dispatches', label: 'nav.dispatches', icon: 'layers', needs: 'traffic.see' },
  { to: '/messages', label: 'nav.messages', icon: 'bubble', needs: 'traffic.see' },
  { to: '/review', label: 'nav.review', icon: 'review', needs: 'review' },
  { to: '/gateways', label: 'nav.gateways', icon: 'gate', needs: 'gateways.see' },
  { to: '/send', label: 'nav.send', icon: 'sent', needs: 'traffic.send' },
]

/** The settings of a company. Staff see these pages while a company is chosen. */
const setUp: NavigationPage[] = [
  { to: '/senders', label: 'nav.senders', icon: 'tag', needs: 'settings.see' },
  { to: '/documents', label: 'nav.documents', icon: 'folder', needs: 'companies.see' },
  { to: '/templates', label: 'nav.templates', icon: 'template', needs: 'settings.see' },
  { to: '/links', label: 'nav.links', icon: 'click', needs: 'traffic.see' },
  { to: '/inbound', label: 'nav.inbound', icon: 'hook', needs: 'traffic.see' },
  { to: '/verification', label: 'nav.verification', icon: 'shield', needs: 'settings.see' },
  { to: '/blacklist', label: 'nav.blacklist', icon: 'slash', needs: 'settings.see' },
]

const customers: NavigationPage[] = [
  { to: '/partners', label: 'nav.partners', icon: 'star', needs: 'partners.see' },
  { to: '/companies', label: 'nav.companies', icon: 'building', needs: 'companies.see' },
]

const account: NavigationPage[] = [
  { to: '/money', label: 'nav.money', icon: 'wallet', needs: 'money.see' },
  { to: '/developers', label: 'nav.developers', icon: 'code', needs: 'developers.see' },
]

/** The prices of a company or a partner. Staff have the tariffs instead. */
const prices: NavigationPage = { to: '/prices', label: 'nav.prices', icon: 'coin', needs: 'money.see' }

const service: NavigationPage[] = [
  { to: '/tariffs', label: 'nav.tariffs', icon: 'coin', needs: 'tariffs.see' },
  { to: '/numbering', label: 'nav.numbering', icon: 'book', needs: 'numbering.see' },
  { to: '/people', label: 'nav.people', icon: 'users', needs: 'people.see' },
  { to: '/audit', label: 'nav.audit', icon: 'log', needs: 'audit.see' },
  { to: '/health', label: 'nav.health', icon: 'pulse', needs: 'health.see' },
]

type Reader = Pick<Me, 'kind' | 'rights'>

/** The pages that a person may open. The server checks the rights again at each request. */
export function groupsOf(me: Reader, company?: number): NavigationGroup[] {
  const groups: NavigationGroup[] =
    me.kind === 'STAFF'
      ? [
          { pages: traffic },
          { heading: 'nav.group.setUp', pages: company === undefined ? [] : setUp },
          { heading: 'nav.group.customers', pages: [...customers, ...account] },
          { heading: 'nav.group.service', pages: service },
        ]
      : [
          { pages: [...customers, ...traffic] },
          { heading: 'nav.group.setUp', pages: setUp },
          { heading: 'nav.group.account', pages: [...account, prices, ...service] },
        ]
  return groups
    .map(group => ({ ...group, pages: group.pages.filter(page => isOpenTo(me, page)) }))
    .filter(({ pages }) => pages.length > 0)
}

const isOpenTo = ({ rights }: Reader, { needs }: NavigationPage) => needs === undefined || rights.includes(needs)

export const pagesOf = (me: Reader, company?: number): NavigationPage[] =>
  groupsOf(me, company).flatMap(({ pages }) => pages)

/** The page of the navigation to which a path belongs: `/dispatches` for `/dispatches/5`. */
export const pageAround = (path: string): NavigationPage | undefined =>
  [...traffic, ...setUp, ...customers, ...account, prices, ...service].find(({ to }) => to === `/${path.split('/')[1]}`)

/** The first page of a person after sign-in. */
export const firstPageOf = (me: Reader) => pagesOf(me)[0]?.to ?? '/account'

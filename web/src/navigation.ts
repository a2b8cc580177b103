import type { IconName } from './parts/icon.tsx'
import type { Me, Right } from './session.ts'

/** The pages that the navigation shows, in this order. */
export type NavigationPage = {
  to: '/overview' | '/dispatches' | '/messages' | '/people' | '/audit' | '/account'
  label: 'nav.overview' | 'nav.dispatches' | 'nav.messages' | 'nav.people' | 'nav.audit' | 'nav.account'
  icon: IconName
  needs?: Right
}

const pages: NavigationPage[] = [
  { to: '/overview', label: 'nav.overview', icon: 'home', needs: 'traffic.see' },
  { to: '/dispatches', label: 'nav.dispatches', icon: 'layers', needs: 'traffic.see' },
  { to: '/messages', label: 'nav.messages', icon: 'bubble', needs: 'traffic.see' },
  { to: '/people', label: 'nav.people', icon: 'users', needs: 'people.see' },
  { to: '/audit', label: 'nav.audit', icon: 'log', needs: 'audit.see' },
  { to: '/account', label: 'nav.account', icon: 'person' },
]

/** What a person may open and nothing else; the server decides every request again. */
export const pagesOf = (me: Pick<Me, 'rights'>): NavigationPage[] =>
  pages.filter(({ needs }) => needs === undefined || me.rights.includes(needs))

/** Where a person begins. */
export const homeOf = (me: Pick<Me, 'rights'>) => pagesOf(me)[0]!.to

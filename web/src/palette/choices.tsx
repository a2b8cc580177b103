import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import type { CompaniesAnswer } from '../../../src/http/cabinet/companies/companies.ts'
import type { PartnersAnswer } from '../../../src/http/cabinet/companies/partners.ts'
import type { DispatchesAnswer } from '../../../src/http/cabinet/dispatches/dispatches.ts'
import type { MessagesAnswer } from '../../../src/http/cabinet/messages/messages.ts'
import type { GatewaysAnswer } from '../../../src/http/cabinet/service/gateways.ts'
import { ask } from '../api.ts'
import { useFormats } from '../format.ts'
import { MessageStatus } from '../messages/message-status.tsx'
import { pagesOf } from '../navigation.ts'
import type { IconName } from '../parts/content/icon.tsx'
import { useMe } from '../session.ts'
import { useWords } from '../words/words.ts'
import { termsOf } from './terms.ts'

export type Choice = {
  id: string
  mark: IconName | ReactElement
  name: string
  end?: string
  /** The target of the choice for the router. */
  go: { to: string; params?: object; search?: object }
}

export type Group = { heading: string; choices: Choice[] }

const MOST_FOUND = 5
const LEAST_TYPED = 2
const LEAST_DIGITS = 5
const LEAST_MEANT = 3
const GATEWAYS_STALE_MS = 30_000

/**
 * Pages appear at once. Results of the server appear below them when they arrive, so that Enter never opens a result
 * that has just appeared. Only messages come first, because besides them only `Send to` matches a number.
 */
export function useChoices(typed: string, asked: string): { groups: Group[]; isAsking: boolean } {
  const { say } = useWords()
  const messages = useMessages(asked)
  const dispatches = useDispatches(asked)
  const companies = useCompanies(asked)
  const partners = usePartners(asked)
  const gateways = useGateways(asked)
  const groups = [
    { heading: say('palette.messages'), choices: messages.choices },
    { heading: say('palette.do'), choices: useActs(typed) },
    { heading: say('palette.pages'), choices: usePages(typed) },
    { heading: say('palette.dispatches'), choices: dispatches.choices },
    { heading: say('palette.companies'), choices: companies.choices },
    { heading: say('nav.partners'), choices: partners.choices },
    { heading: say('nav.gateways'), choices: gateways.choices },
  ]
  return {
    groups: groups.filter(({ choices }) => choices.length > 0),
    isAsking: typed !== asked || [messages, dispatches, companies, partners, gateways].some(one => one.isFetching),
  }
}

const fits = (name: string, typed: string) => name.toLowerCase().includes(typed.toLowerCase())

function usePages(typed: string): Choice[] {
  const { say } = useWords()
  const { company } = useSearch({ from: '/shell' })
  const pages = pagesOf(useMe(), company).map(({ to, label, icon }) => ({ to, name: say(label), icon }))
  const account = { to: '/account', name: say('nav.account'), icon: 'person' as const }
  const named = [...pages, account].filter(({ name }) => fits(name, typed))
  const meant = [...pages, account].filter(page => !named.includes(page) && isMeant(page.to, typed))
  return [...named, ...meant].map(({ to, name, icon }) => ({ id: `page ${to}`, mark: icon, name, go: { to } }))
}

/** Matches from the beginning of a word, because a few letters occur inside too many words. */
const isMeant = (to: string, typed: string) =>
  typed.length >= LEAST_MEANT && ` ${termsOf(to)}`.includes(` ${typed.toLowerCase()}`)

const digitsIn = (text: string) => (/^[+\d\s()-]+$/.test(text) ? text.replaceAll(/\D/g, '') : '')
const isUuid = (text: string) => /^[0-9a-f]{8}-[0-9a-f-]{20,27}$/i.test(text)

function useActs(typed: string): Choice[] {
  const { say } = useWords()
  const maySend = useMe().rights.includes('traffic.send')
  const number = digitsIn(typed)
  if (!maySend) return []
  if (number.length >= LEAST_DIGITS)
    return [{ id: 'send to', mark: 'sent', name: say('palette.sendTo'), go: { to: '/send', search: { to: number } } }]
  const acts: Choice[] = [
    { id: 'new dispatch', mark: 'plus', name: say('overview.newDispatch'), go: { to: '/dispatches/new' } },
    { id: 'send', mark: 'sent', name: say('send.title'), go: { to: '/send' } },
  ]
  return acts.filter(({ name }) => fits(name, typed))
}

/** A number, the beginning of a number, or an id, because an index finds these. */
function useMessages(asked: string): { choices: Choice[]; isFetching: boolean } {
  const { rights } = useMe()
  const { company } = useSearch({ from: '/shell' })
  const { moment } = useFormats()
  const isSought = digitsIn(asked).length >= LEAST_DIGITS || isUuid(asked)
  const query = new URLSearchParams({ q: asked, perPage: String(MOST_FOUND), ...placeOf(company) })
  const { data, isFetching } = useQuery({
    queryKey: ['palette', 'messages', asked, company],
    queryFn: () => ask<MessagesAnswer>('GET', `/messages?${query}`),
    enabled: isSought && rights.includes('traffic.see'),
  })
  const items = isSought ? (data?.items ?? []) : []
  const choices = items.map(({ uuid, status, text, destination, acceptedAt }) => ({
    id: `message ${uuid}`,
    mark: <MessageStatus status={status} />,
    name: text ?? destination,
    end: moment(acceptedAt),
    go: { to: '/messages/$uuid', params: { uuid } },
  }))
  return { choices, isFetching }
}

function useDispatches(asked: string): { choices: Choice[]; isFetching: boolean } {
  const { rights } = useMe()
  const { company } = useSearch({ from: '/shell' })
  const isSought = asked.length >= LEAST_TYPED
  const query = new URLSearchParams({
    search: asked.replace(/^#/, ''),
    perPage: String(MOST_FOUND),
    ...placeOf(company),
  })
  const { data, isFetching, isPlaceholderData } = useQuery({
    queryKey: ['palette', 'dispatches', asked, company],
    queryFn: () => ask<DispatchesAnswer>('GET', `/dispatches?${query}`),
    enabled: isSought && rights.includes('traffic.see'),
    placeholderData: keepPreviousData,
  })
  const items = isSought ? (data?.items ?? []) : []
  const fitting = items.filter(({ name }) => !isPlaceholderData || fits(name, asked))
  const choices = fitting.map(({ dispatchId, name }) => ({
    id: `dispatch ${dispatchId}`,
    mark: 'layers' as const,
    name,
    end: `#${dispatchId}`,
    go: { to: '/dispatches/$dispatchId', params: { dispatchId } },
  }))
  return { choices, isFetching }
}

/** Choosing a company shows it on the open page. */
function useCompanies(asked: string): { choices: Choice[]; isFetching: boolean } {
  const { kind } = useMe()
  const isSought = asked.length >= LEAST_TYPED
  const { data, isFetching, isPlaceholderData } = useQuery({
    queryKey: ['companies', asked],
    queryFn: () => ask<CompaniesAnswer>('GET', `/companies?${new URLSearchParams({ search: asked })}`),
    enabled: isSought && kind !== 'COMPANY',
    placeholderData: keepPreviousData,
  })
  const items = isSought ? (data?.items ?? []) : []
  const fitting = items.filter(({ name }) => !isPlaceholderData || fits(name, asked))
  const choices = fitting.slice(0, MOST_FOUND).map(({ companyId, name }) => ({
    id: `company ${companyId}`,
    mark: 'building' as const,
    name,
    end: `#${companyId}`,
    go: { to: '/overview', search: { company: companyId } },
  }))
  return { choices, isFetching }
}

function usePartners(asked: string): { choices: Choice[]; isFetching: boolean } {
  const { rights } = useMe()
  const isSought = asked.length >= LEAST_TYPED
  const { data, isFetching } = useQuery({
    queryKey: ['palette', 'partners', asked],
    queryFn: () => ask<PartnersAnswer>('GET', `/partners?${new URLSearchParams({ search: asked })}`),
    enabled: isSought && rights.includes('partners.see'),
  })
  const items = isSought ? (data?.items ?? []) : []
  const choices = items.slice(0, MOST_FOUND).map(({ partnerId, login }) => ({
    id: `partner ${partnerId}`,
    mark: 'star' as const,
    name: login,
    end: `#${partnerId}`,
    go: { to: '/partners/$partnerId', params: { partnerId } },
  }))
  return { choices, isFetching }
}

/** There are few gateways, so the page loads all of them once and searches here. */
function useGateways(asked: string): { choices: Choice[]; isFetching: boolean } {
  const { rights } = useMe()
  const isSought = asked.length >= LEAST_TYPED
  const { data, isFetching } = useQuery({
    queryKey: ['palette', 'gateways'],
    queryFn: () => ask<GatewaysAnswer>('GET', '/gateways'),
    enabled: isSought && rights.includes('gateways.see'),
    staleTime: GATEWAYS_STALE_MS,
  })
  const items = isSought ? (data?.gateways ?? []).filter(({ name }) => fits(name, asked)) : []
  const choices = items.slice(0, MOST_FOUND).map(({ gatewayId, name }) => ({
    id: `gateway ${gatewayId}`,
    mark: 'gate' as const,
    name,
    end: `#${gatewayId}`,
    go: { to: '/gateways/$gatewayId', params: { gatewayId } },
  }))
  return { choices, isFetching }
}

const placeOf = (company: number | undefined): Record<string, string> =>
  company === undefined ? {} : { companyId: String(company) }

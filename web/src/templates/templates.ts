import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type {
  ListedTemplate,
  TemplateNamesAnswer,
  TemplatePageAnswer,
  TemplatesAnswer,
} from '../../../src/http/cabinet/senders/templates.ts'
import { ask, type Wire } from '../api.ts'
import { queryOf } from '../parts/lists/list-search.ts'
import type { TemplateSearch } from './search.ts'

export type Template = Wire<ListedTemplate>
export type TemplatePageData = Wire<TemplatePageAnswer>

export const TEMPLATES = ['templates'] as const

export const templatesQuery = (companyId: number, search: TemplateSearch) =>
  queryOptions({
    queryKey: [...TEMPLATES, 'list', companyId, search],
    queryFn: () => ask<TemplatesAnswer>('GET', `/templates?${queryOf(companyId, search)}`),
    placeholderData: keepPreviousData,
    refetchInterval: 60_000,
  })

export const templateQuery = (companyId: number, templateId: number) =>
  queryOptions({
    queryKey: [...TEMPLATES, companyId, templateId],
    queryFn: () => ask<TemplatePageAnswer>('GET', `/templates/${templateId}?companyId=${companyId}`),
    refetchInterval: 60_000,
  })

export const templateNamesQuery = (companyId: number) =>
  queryOptions({
    queryKey: [...TEMPLATES, 'names', companyId],
    queryFn: () => ask<TemplateNamesAnswer>('GET', `/templates/names?companyId=${companyId}`),
  })

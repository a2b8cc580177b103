import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import type { GatewayChangeBody, GatewayChanged } from '../../../../src/http/cabinet/service/gateway-changes.ts'
import { ask } from '../../api.ts'
import { FormProblem } from '../../parts/forms/form-problem.tsx'
import { useKept } from '../../parts/forms/kept-form.ts'
import { BoneRows } from '../../parts/lists/bones.tsx'
import { ErrorState } from '../../parts/pages/error-state.tsx'
import { PageHead } from '../../parts/pages/page-head.tsx'
import { useWords } from '../../words/words.ts'
import { useAboutGateway } from '../about.ts'
import { useGatewayChange } from '../changes.ts'
import { type Connector, connectorsQuery, type GatewayDetails, gatewayQuery } from '../gateways.ts'
import { fieldProblemOf } from '../problems.ts'
import { changedSettings, draftOf } from './draft.ts'
import { type Draft, GatewayForm } from './gateway-form.tsx'

/**
 * Changes the settings of a gateway. The form sends the version with which it began, so that it does not overwrite a
 * newer change of another person.
 */
export function GatewaySettingsPage() {
  const { gatewayId } = useParams({ from: '/shell/gateways/$gatewayId/settings' })
  const gateway = useQuery({ ...gatewayQuery(gatewayId), refetchInterval: false, refetchOnWindowFocus: false })
  const connectors = useQuery(connectorsQuery)
  const error = gateway.error ?? connectors.error
  if (error && !gateway.data) return <ErrorState level={1} error={error} onRetry={() => void gateway.refetch()} />
  if (!gateway.data || !connectors.data) return <BoneRows rows={6} />
  return <Shown gateway={gateway.data} connectors={connectors.data.connectors} />
}

function Shown({ gateway: current, connectors }: { gateway: GatewayDetails; connectors: readonly Connector[] }) {
  const words = useWords()
  const { say } = words
  const about = useAboutGateway()
  const navigate = useNavigate()
  const [gateway] = useState(current)
  const { gatewayId, name, version } = gateway
  const connector = connectors.find(one => one.name === gateway.connector)
  const start = draftOf(gateway)
  const kept = useKept('settings', start, { secrets: connector?.secrets ?? [] })
  const back = () => void navigate({ to: '/gateways/$gatewayId', params: { gatewayId } })
  const change = useGatewayChange<GatewayChangeBody>(
    body => ask<GatewayChanged>('PATCH', `/gateways/${gatewayId}`, body),
    say('app.saved'),
    () => {
      kept.forget()
      back()
    },
  )
  const submit = ({ name, brands, rate, companies, settings }: Draft) => {
    const changed = connector ? changedSettings(connector, start.settings, settings) : {}
    change.mutate({
      version,
      name: name.trim(),
      brands,
      rate,
      companies: companies.map(({ companyId }) => companyId),
      ...(Object.keys(changed).length > 0 ? { settings: changed } : {}),
    })
  }
  return (
    <>
      <PageHead title={say('gateway.settings.title', { name })} note={about(gateway)} />
      {gateway.settings?.isSealed && <FormProblem>{say('gateway.settings.sealed')}</FormProblem>}
      {connector ? (
        <GatewayForm
          connector={connector}
          kept={kept}
          secrets={gateway.settings?.secrets ?? []}
          submit={say('app.save')}
          isBusy={change.isPending}
          problem={change.isError ? fieldProblemOf(words, change.error) : undefined}
          onSubmit={submit}
          onCancel={back}
        />
      ) : (
        <p className="note">{say('gateway.settings.unknown')}</p>
      )}
    </>
  )
}

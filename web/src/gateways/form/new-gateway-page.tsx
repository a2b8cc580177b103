import { NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import type { GatewayChanged, NewGatewayBody } from '../../../../src/http/cabinet/service/gateway-changes.ts'
import { ask } from '../../api.ts'
import { useKept } from '../../parts/forms/kept-form.ts'
import { BoneRows } from '../../parts/lists/bones.tsx'
import { useTrafficNames } from '../../parts/names/traffic-names.ts'
import { ErrorState } from '../../parts/pages/error-state.tsx'
import { PageHead } from '../../parts/pages/page-head.tsx'
import { useWords } from '../../words/words.ts'
import { useConnectorName } from '../about.ts'
import { useGatewayChange } from '../changes.ts'
import styles from '../gateways.module.css'
import { type Connector, connectorsQuery } from '../gateways.ts'
import { fieldProblemOf } from '../problems.ts'
import { emptyDraft, filledIn } from './draft.ts'
import { type Draft, GatewayForm } from './gateway-form.tsx'

/** Connector and channel are in the URL. They cannot change after the gateway is created. */
export function NewGatewayPage() {
  const { say } = useWords()
  const { data, error, refetch } = useQuery(connectorsQuery)
  return (
    <>
      <PageHead title={say('gateway.new.title')} note={say('gateway.new.note')} />
      {data ? (
        <Chosen connectors={data.connectors} />
      ) : error ? (
        <ErrorState error={error} onRetry={refetch} />
      ) : (
        <BoneRows rows={5} />
      )}
    </>
  )
}

function Chosen({ connectors }: { connectors: readonly Connector[] }) {
  const { say } = useWords()
  const { channel } = useTrafficNames()
  const connectorName = useConnectorName()
  const navigate = useNavigate()
  const search = useSearch({ from: '/shell/gateways/new' })
  const connector = connectors.find(({ name }) => name === (search.connector ?? 'smpp')) ?? connectors[0]
  const channelType = connector?.channels.find(one => one === search.channel) ?? connector?.channels[0]
  const choose = (chosen: { connector?: string; channel?: string }) =>
    void navigate({ to: '/gateways/new', search: { ...search, ...chosen }, replace: true })
  if (!connector || !channelType) return null
  return (
    <div className={styles.form}>
      <div className={styles.fields}>
        <NativeSelect
          label={say('gateway.form.connector')}
          value={connector.name}
          onChange={({ currentTarget }) => choose({ connector: currentTarget.value })}
        >
          {connectors.map(({ name }) => (
            <option key={name} value={name}>
              {connectorName(name)}
            </option>
          ))}
        </NativeSelect>
        <NativeSelect
          label={say('gateway.form.channel')}
          value={channelType}
          onChange={({ currentTarget }) => choose({ channel: currentTarget.value })}
        >
          {connector.channels.map(one => (
            <option key={one} value={one}>
              {channel(one)}
            </option>
          ))}
        </NativeSelect>
      </div>
      <Fields key={connector.name} connector={connector} channelType={channelType} />
    </div>
  )
}

function Fields({ connector, channelType }: { connector: Connector; channelType: Connector['channels'][number] }) {
  const words = useWords()
  const { say } = words
  const navigate = useNavigate()
  const kept = useKept(`new ${connector.name}`, emptyDraft(''), { secrets: connector.secrets })
  const add = useGatewayChange<NewGatewayBody>(
    body => ask<GatewayChanged>('POST', '/gateways', body),
    say('gateway.new.done'),
    gatewayId => {
      kept.forget()
      if (gatewayId !== undefined) void navigate({ to: '/gateways/$gatewayId', params: { gatewayId } })
    },
  )
  const submit = ({ name, brands, rate, companies, settings }: Draft) =>
    add.mutate({
      name: name.trim(),
      channelType,
      connector: connector.name,
      brands,
      rate,
      companies: companies.map(({ companyId }) => companyId),
      settings: filledIn(settings),
    })
  return (
    <GatewayForm
      connector={connector}
      kept={kept}
      secrets={[]}
      submit={say('gateways.add')}
      isBusy={add.isPending}
      problem={add.isError ? fieldProblemOf(words, add.error) : undefined}
      onSubmit={submit}
      onCancel={() => void navigate({ to: '/gateways' })}
    />
  )
}

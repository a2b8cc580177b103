import { Button, UnstyledButton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Icon } from '../../parts/content/icon.tsx'
import { Section } from '../../parts/content/section.tsx'
import { ErrorState } from '../../parts/pages/error-state.tsx'
import { OneCompany, useCompanyId } from '../../parts/pages/one-company.tsx'
import { useMe } from '../../session.ts'
import { useWords } from '../../words/words.ts'
import { DevelopersFrame } from '../developers-frame.tsx'
import { CallbackLog } from './callback-log.tsx'
import { settingsQuery } from './callbacks.ts'
import { PausedBands, Receivers } from './receivers.tsx'
import { SecretDialog } from './secret-dialog.tsx'
import { TestDialog } from './test-dialog.tsx'

/** The callbacks to the servers of one company, and the answers. */
export function CallbacksPage() {
  const { say } = useWords()
  const companyId = useCompanyId()
  const mayChange = useMe().rights.includes('developers.change')
  const [dialog, setDialog] = useState<'test' | 'secret'>()
  const { data } = useQuery({ ...settingsQuery(companyId ?? 0), enabled: companyId !== undefined })
  const close = () => setDialog(undefined)
  return (
    <DevelopersFrame
      note={say('callbacks.note')}
      action={
        mayChange &&
        data && (
          <Button variant="filled" leftSection={<Icon name="hook" />} onClick={() => setDialog('test')}>
            {say('callbacks.test')}
          </Button>
        )
      }
    >
      <OneCompany>
        {company => <Content companyId={company} onSecret={mayChange ? () => setDialog('secret') : undefined} />}
      </OneCompany>
      {companyId !== undefined && data && dialog === 'test' && (
        <TestDialog companyId={companyId} address={data.address} onClose={close} />
      )}
      {companyId !== undefined && data && dialog === 'secret' && (
        <SecretDialog companyId={companyId} hasSecret={data.hasSecret} onClose={close} />
      )}
    </DevelopersFrame>
  )
}

type Props = { companyId: number; onSecret: (() => void) | undefined }

function Content({ companyId, onSecret }: Props) {
  const { say } = useWords()
  const { data, error, refetch } = useQuery(settingsQuery(companyId))
  if (error && !data) return <ErrorState error={error} onRetry={refetch} />
  return (
    <>
      {data && <PausedBands companyId={companyId} receivers={data.receivers} mayTry={onSecret !== undefined} />}
      {data && data.receivers.length > 0 && <Receivers settings={data} />}
      <Section
        title={say('callbacks.log')}
        end={
          onSecret &&
          data && (
            <UnstyledButton className="link" onClick={onSecret}>
              {say(data.hasSecret ? 'callbacks.secret.replace' : 'callbacks.secret.make')}
            </UnstyledButton>
          )
        }
      >
        <CallbackLog companyId={companyId} mayReplay={onSecret !== undefined} />
      </Section>
    </>
  )
}

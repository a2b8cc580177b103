import { Button } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Status } from '../parts/content/status.tsx'
import { BoneRows } from '../parts/lists/bones.tsx'
import { ErrorState } from '../parts/pages/error-state.tsx'
import { useRefreshMe } from '../session.ts'
import { useWords } from '../words/words.ts'
import styles from './account.module.css'
import { secondFactorQuery } from './account.ts'
import { RecoveryCodesDialog } from './recovery-codes-dialog.tsx'
import { RenewCodesDialog, SwitchOffDialog, SwitchOnDialog } from './second-factor-dialogs.tsx'

type Step = 'switch on' | 'switch off' | 'renew' | { codes: string[] }

/** Shows whether sign-in asks for a code, and opens the dialogs that change it. */
export function SecondFactor() {
  const { say } = useWords()
  const [step, setStep] = useState<Step>()
  const { data, error, refetch } = useQuery(secondFactorQuery)
  const refresh = useRefresh()
  const close = () => setStep(undefined)
  const showCodes = async (codes: string[]) => {
    setStep({ codes })
    await refresh()
  }
  const finish = async () => {
    close()
    await refresh()
  }

  if (error) return <ErrorState error={error} onRetry={refetch} />
  if (!data) return <BoneRows rows={1} />
  return (
    <>
      <div className={styles.row}>
        <Status kind={data.isOn ? 'ok' : 'wait'} icon={data.isOn ? 'ok' : 'slash'}>
          {say(data.isOn ? 'account.second.on' : 'account.second.off')}
        </Status>
        {data.isOn && <span className="note">{say('account.second.left', { count: data.recoveryCodesLeft })}</span>}
      </div>
      <div className={styles.actions}>
        {data.isOn ? (
          <>
            <Button onClick={() => setStep('renew')}>{say('account.second.newCodes')}</Button>
            <Button onClick={() => setStep('switch off')}>{say('account.second.switchOff')}</Button>
          </>
        ) : (
          <Button onClick={() => setStep('switch on')}>{say('account.second.switchOn')}</Button>
        )}
      </div>
      {step === 'switch on' && <SwitchOnDialog onCodes={showCodes} onClose={close} />}
      {step === 'renew' && <RenewCodesDialog onCodes={showCodes} onClose={close} />}
      {step === 'switch off' && <SwitchOffDialog onDone={finish} onClose={close} />}
      {typeof step === 'object' && <RecoveryCodesDialog codes={step.codes} onClose={close} />}
    </>
  )
}

function useRefresh() {
  const client = useQueryClient()
  const refreshMe = useRefreshMe()
  return async () => {
    await client.invalidateQueries({ queryKey: secondFactorQuery.queryKey })
    await refreshMe()
  }
}

import { Button, Menu } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useId, useState } from 'react'
import type { DispatchAnswer } from '../../../../src/http/cabinet/dispatches/dispatches.ts'
import { ask } from '../../api.ts'
import { useFormats } from '../../format.ts'
import { Icon } from '../../parts/content/icon.tsx'
import { ButtonMenu } from '../../parts/dialogs/button-menu.tsx'
import { Dialog } from '../../parts/dialogs/dialog.tsx'
import { tellDone } from '../../parts/dialogs/toast.tsx'
import { FormProblem } from '../../parts/forms/form-problem.tsx'
import { describeProblem } from '../../problems.ts'
import { queryClient, useMe } from '../../session.ts'
import { zoneOfReader } from '../../words/intl.ts'
import { useWords } from '../../words/words.ts'
import { DISPATCHES, type Whole } from '../dispatches.ts'
import { AgainDialog } from './again-dialog.tsx'
import styles from './dispatch-page.module.css'

type Task = 'start' | 'stop'

/** Report, stop, start, and send again. */
export function DispatchActions({ dispatch }: { dispatch: Whole }) {
  const { say } = useWords()
  const maySend = useMe().rights.includes('traffic.send')
  const [task, setTask] = useState<Task | 'again'>()
  const isStartable = dispatch.status === 'CREATED' || (dispatch.status === 'STOPPED' && !dispatch.isEnded)
  return (
    <div className={styles.actions}>
      <ReportMenu dispatchId={dispatch.dispatchId} />
      {maySend && dispatch.status === 'STARTED' && (
        <Button leftSection={<Icon name="pause" />} onClick={() => setTask('stop')}>
          {say('dispatch.stop')}
        </Button>
      )}
      {maySend && isStartable && (
        <Button leftSection={<Icon name="play" />} onClick={() => setTask('start')}>
          {say('dispatch.start')}
        </Button>
      )}
      {maySend && dispatch.status === 'COMPLETED' && dispatch.failed > 0 && (
        <AgainButton dispatch={dispatch} onClick={() => setTask('again')} />
      )}
      {task === 'again' && <AgainDialog dispatch={dispatch} onClose={() => setTask(undefined)} />}
      {task && task !== 'again' && <MoveDialog dispatch={dispatch} task={task} onClose={() => setTask(undefined)} />}
    </div>
  )
}

/** A dispatch is sent again once. Afterwards the button leads to the new dispatch. */
function AgainButton({ dispatch, onClick }: { dispatch: Whole; onClick(): void }) {
  const { say } = useWords()
  const id = useId()
  const { again, isCascade } = dispatch
  const icon = <Icon name="replay" />
  if (again)
    return (
      <Button
        leftSection={icon}
        renderRoot={props => (
          <Link {...props} to="/dispatches/$dispatchId" params={{ dispatchId: again.dispatchId }} search={{}} />
        )}
      >
        {say('dispatch.again.open')}
      </Button>
    )
  return (
    <>
      <Button leftSection={icon} disabled={isCascade} aria-describedby={isCascade ? id : undefined} onClick={onClick}>
        {say('dispatch.again')}
      </Button>
      {isCascade && (
        <p id={id} className={`note small ${styles.whyNot}`}>
          {say('dispatch.again.cascade')}
        </p>
      )}
    </>
  )
}

/** Links instead of requests by script, so that the browser saves the file while it arrives. */
function ReportMenu({ dispatchId }: { dispatchId: number }) {
  const { say, language } = useWords()
  const report = (format: string) => {
    const query = new URLSearchParams({ format, language, zone: zoneOfReader() })
    return new URL(`api/dispatches/${dispatchId}/report?${query}`, document.baseURI).href
  }
  return (
    <ButtonMenu
      position="bottom-end"
      width={224}
      button={<Button leftSection={<Icon name="download" />}>{say('dispatch.report')}</Button>}
    >
      <Menu.Item component="a" href={report('xlsx')} download>
        {say('dispatch.report.xlsx')}
      </Menu.Item>
      <Menu.Item component="a" href={report('csv')} download>
        {say('dispatch.report.csv')}
      </Menu.Item>
    </ButtonMenu>
  )
}

type DialogProps = { dispatch: Whole; task: Task; onClose(): void }

function MoveDialog({ dispatch, task, onClose }: DialogProps) {
  const words = useWords()
  const { say } = words
  const { money } = useFormats()
  const { dispatchId, name, waiting, estimate, currency } = dispatch
  const move = useMutation({
    mutationFn: () => ask<DispatchAnswer>('POST', `/dispatches/${dispatchId}/${task}`),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: DISPATCHES })
      tellDone(say(`dispatch.${task}.done`, { name }))
      onClose()
    },
  })
  return (
    <Dialog
      title={say(`dispatch.${task}.title`, { name })}
      text={say(`dispatch.${task}.text`, { count: waiting })}
      submit={say(`dispatch.${task}`)}
      isDangerous={task === 'stop'}
      isBusy={move.isPending}
      onSubmit={() => move.mutate()}
      onClose={onClose}
    >
      {move.isError && <FormProblem>{describeProblem(words, move.error)}</FormProblem>}
      {task === 'start' && estimate !== null && (
        <p className="note">{say('dispatch.start.price', { price: money(estimate, currency) })}</p>
      )}
    </Dialog>
  )
}

import { Button, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { CenterRow } from '../../../src/http/cabinet/messages/inbound.ts'
import { ask } from '../api.ts'
import { useFormats } from '../format.ts'
import { Icon } from '../parts/content/icon.tsx'
import { Section } from '../parts/content/section.tsx'
import { Status } from '../parts/content/status.tsx'
import { ConfirmDialog } from '../parts/dialogs/confirm-dialog.tsx'
import { Dialog } from '../parts/dialogs/dialog.tsx'
import { tellDone } from '../parts/dialogs/toast.tsx'
import { FormProblem } from '../parts/forms/form-problem.tsx'
import { BoneRows } from '../parts/lists/bones.tsx'
import table from '../parts/lists/table.module.css'
import { ErrorState } from '../parts/pages/error-state.tsx'
import { useCompanyId } from '../parts/pages/one-company.tsx'
import { describeProblem } from '../problems.ts'
import { useMe } from '../session.ts'
import { useWords } from '../words/words.ts'
import styles from './inbound.module.css'
import { type Center, INBOUND, pathOf, type Rules, rulesQuery } from './inbound.ts'
import { InboundFrame } from './inbound-head.tsx'

/** The traffic centers of the company. One of them is the default. */
export function CentersPage() {
  const { say } = useWords()
  const mayChange = useMe().rights.includes('settings.change')
  const companyId = useCompanyId()
  const [isAdding, setIsAdding] = useState(false)
  return (
    <InboundFrame
      actions={
        mayChange &&
        companyId !== undefined && (
          <Button variant="filled" leftSection={<Icon name="plus" />} onClick={() => setIsAdding(true)}>
            {say('inbound.center.add')}
          </Button>
        )
      }
    >
      {companyId => (
        <>
          <Centers companyId={companyId} mayChange={mayChange} />
          {isAdding && <AddDialog companyId={companyId} onClose={() => setIsAdding(false)} />}
        </>
      )}
    </InboundFrame>
  )
}

function Centers({ companyId, mayChange }: { companyId: number; mayChange: boolean }) {
  const { say } = useWords()
  const { number } = useFormats()
  const { data, error, refetch } = useQuery(rulesQuery(companyId))
  const [next, setNext] = useState<Center>()
  if (!data) return error ? <ErrorState error={error} onRetry={refetch} /> : <BoneRows />
  const leading = ({ centerId }: Center) => data.rules.filter(rule => rule.centerId === centerId).length
  return (
    <Section title={say('inbound.centers')} note={say('inbound.centers.note')}>
      <table className={`${table.table} ${styles.centers}`}>
        <thead>
          <tr>
            <th>{say('inbound.center.name')}</th>
            <th>{say('inbound.center.use')}</th>
            <th className={table.number}>{say('inbound.rules')}</th>
            {mayChange && <th aria-label={say('app.more')} />}
          </tr>
        </thead>
        <tbody>
          {data.centers.map(center => (
            <tr key={center.centerId}>
              <td className={`${table.title} ${table.main}`}>{center.name}</td>
              <td className={table.corner}>
                {center.isDefault && <Status kind="ok">{say('inbound.center.default')}</Status>}
              </td>
              <td className={table.number} data-label={say('inbound.rules')}>
                {number(leading(center))}
              </td>
              {mayChange && (
                <td className={styles.make}>
                  {!center.isDefault && (
                    <Button size="xs" onClick={() => setNext(center)}>
                      {say('inbound.center.make')}
                    </Button>
                  )}
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
      {next && <DefaultDialog companyId={companyId} rules={data} center={next} onClose={() => setNext(undefined)} />}
    </Section>
  )
}

type DefaultProps = { companyId: number; rules: Rules; center: Center; onClose(): void }

/** Sends the default that the page showed, so that it does not overwrite a newer choice of another person. */
function DefaultDialog({ companyId, rules, center: { name, centerId }, onClose }: DefaultProps) {
  const { say } = useWords()
  const seen = rules.centers.find(({ isDefault }) => isDefault)?.centerId
  return (
    <ConfirmDialog
      title={say('inbound.center.make.title', { name })}
      text={say('inbound.center.make.text')}
      submit={say('inbound.center.make')}
      change={() => ask<CenterRow>('PUT', pathOf(companyId, '/centers/default'), { centerId, seen })}
      stale={[INBOUND]}
      done={say('inbound.center.made', { name })}
      onClose={onClose}
    />
  )
}

function AddDialog({ companyId, onClose }: { companyId: number; onClose(): void }) {
  const words = useWords()
  const { say } = words
  const [name, setName] = useState('')
  const [isEmpty, setIsEmpty] = useState(false)
  const client = useQueryClient()
  const add = useMutation({
    mutationFn: () => ask<CenterRow>('POST', pathOf(companyId, '/centers'), { name: name.trim() }),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: INBOUND })
      tellDone(say('inbound.center.added', { name: name.trim() }))
      onClose()
    },
  })
  const isTaken = /^center: ".*" is taken/s.test(add.error?.message ?? '')
  return (
    <Dialog
      title={say('inbound.center.add.title')}
      text={say('inbound.center.add.text')}
      submit={say('inbound.center.add')}
      isBusy={add.isPending}
      onSubmit={() => {
        setIsEmpty(name.trim() === '')
        if (name.trim() !== '') add.mutate()
      }}
      onClose={onClose}
    >
      {add.isError && !isTaken && <FormProblem>{describeProblem(words, add.error)}</FormProblem>}
      <TextInput
        label={say('inbound.center.name')}
        autoComplete="off"
        data-autofocus
        maxLength={100}
        error={isEmpty ? say('inbound.center.empty') : isTaken && say('inbound.center.taken')}
        value={name}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
      />
    </Dialog>
  )
}

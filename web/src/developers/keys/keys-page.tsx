import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useFormats } from '../../format.ts'
import { Icon } from '../../parts/content/icon.tsx'
import { BoneRows } from '../../parts/lists/bones.tsx'
import { Blank } from '../../parts/pages/blank.tsx'
import { ErrorState } from '../../parts/pages/error-state.tsx'
import { OneCompany, useCompanyId } from '../../parts/pages/one-company.tsx'
import { useMe } from '../../session.ts'
import { useWords } from '../../words/words.ts'
import styles from '../developers.module.css'
import { DevelopersFrame, ErrorCodesLink } from '../developers-frame.tsx'
import { type Keys, keysQuery } from './keys.ts'
import { KeysTable } from './keys-table.tsx'
import { NewKeyDialog } from './new-key-dialog.tsx'

/** The API keys of one company. */
export function KeysPage() {
  const { say } = useWords()
  const { number } = useFormats()
  const companyId = useCompanyId()
  const mayChange = useMe().rights.includes('developers.change')
  const [isMaking, setIsMaking] = useState(false)
  const { data } = useQuery({ ...keysQuery(companyId ?? 0), enabled: companyId !== undefined })
  const make = () => setIsMaking(true)
  return (
    <DevelopersFrame
      note={data && say('developers.note', { count: data.requests, refused: number(data.refused) })}
      action={mayChange && data && <NewKeyButton onClick={make} />}
    >
      <OneCompany>{company => <Listed companyId={company} onMake={mayChange ? make : undefined} />}</OneCompany>
      {isMaking && data && companyId !== undefined && (
        <NewKeyDialog companyId={companyId} keys={data} onClose={() => setIsMaking(false)} />
      )}
    </DevelopersFrame>
  )
}

type ListedProps = { companyId: number; onMake: (() => void) | undefined }

function Listed({ companyId, onMake }: ListedProps) {
  const { data, error, refetch } = useQuery(keysQuery(companyId))
  if (data) return <Found companyId={companyId} data={data} onMake={onMake} />
  return error ? <ErrorState error={error} onRetry={refetch} /> : <BoneRows />
}

function Found({ companyId, data, onMake }: ListedProps & { data: Keys }) {
  const { say } = useWords()
  if (data.keys.length === 0)
    return (
      <Blank drawing="bird" title={say('keys.empty.title')} text={say(onMake ? 'keys.empty.text' : 'keys.empty.see')} />
    )
  return (
    <>
      <KeysTable companyId={companyId} keys={data} mayChange={onMake !== undefined} />
      <p className={`note ${styles.below}`}>
        {say('keys.once')} <ErrorCodesLink />
      </p>
    </>
  )
}

function NewKeyButton({ onClick }: { onClick(): void }) {
  const { say } = useWords()
  return (
    <Button variant="filled" leftSection={<Icon name="plus" />} onClick={onClick}>
      {say('keys.new')}
    </Button>
  )
}

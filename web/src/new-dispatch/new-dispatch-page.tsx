import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { useFormats } from '../format.ts'
import { Icon } from '../parts/content/icon.tsx'
import { tellDone } from '../parts/dialogs/toast.tsx'
import { BoneRows } from '../parts/lists/bones.tsx'
import { Blank } from '../parts/pages/blank.tsx'
import { ErrorState } from '../parts/pages/error-state.tsx'
import { PageHead } from '../parts/pages/page-head.tsx'
import { useMe } from '../session.ts'
import { useWords } from '../words/words.ts'
import { CheckStep } from './check/check-step.tsx'
import { Sending } from './check/sending.tsx'
import { CompanyField } from './company-field.tsx'
import type { Draft } from './draft.ts'
import styles from './new-dispatch.module.css'
import { faultOfText, reportOf, withoutNames } from './offer.ts'
import { offerQuery } from './offer-query.ts'
import { RecipientsStep } from './recipients/recipients-step.tsx'
import { type StepProps, stepNames, useGoTo } from './step.tsx'
import { type Step, steps } from './steps.ts'
import { TextStep } from './text/text-step.tsx'
import { type DraftUse, useDraft } from './use-draft.ts'
import { faultOfWhen, WhenStep } from './when/when-step.tsx'

/** A new dispatch in four steps. The draft stays on this device until the dispatch is started. */
export function NewDispatchPage() {
  const { personId, kind } = useMe()
  const { company } = useSearch({ from: '/shell' })
  const use = useDraft(personId, company)
  if (!use) return <BoneRows />
  const companyId = kind === 'COMPANY' ? undefined : (company ?? use.draft.companyId)
  if (use.isElsewhere) return <Elsewhere use={use} />
  if (use.draft.sending) return <Sending use={use} />
  if (kind !== 'COMPANY' && companyId === undefined) return <CompanyFirst use={use} />
  return <Wizard use={use} companyId={companyId} />
}

function Elsewhere({ use }: { use: DraftUse }) {
  const { say } = useWords()
  return (
    <Blank drawing="bird" level={1} title={say('new.elsewhere')} text={say('new.elsewhere.text')}>
      <Button variant="filled" onClick={use.takeOver}>
        {say('new.elsewhere.take')}
      </Button>
    </Blank>
  )
}

function CompanyFirst({ use }: { use: DraftUse }) {
  const { say } = useWords()
  return (
    <>
      <Head use={use} />
      <p className="note">{say('new.company.first')}</p>
      <div className={styles.narrow}>
        <CompanyField use={use} companyId={undefined} />
      </div>
    </>
  )
}

function Wizard({ use, companyId }: { use: DraftUse; companyId: number | undefined }) {
  const { data: offer, error, refetch } = useQuery(offerQuery(companyId))
  const { step: wanted = 1 } = useSearch({ from: '/shell/dispatches/new' })
  // If another company is chosen in the header, the draft loses its sender names and its check.
  const isOther = use.draft.companyId !== companyId
  const draft: Draft = isOther ? { ...use.draft, companyId, ...withoutNames(use.draft) } : use.draft
  const present: DraftUse = {
    ...use,
    draft,
    change: part => use.change(isOther ? { companyId, ...withoutNames(use.draft), ...part } : part),
  }
  const last = farthest(draft)
  const step = wanted < last ? wanted : last
  return (
    <>
      <Head use={present} />
      <StepList step={step} draft={draft} />
      {offer ? (
        <StepBody step={step} use={present} offer={offer} />
      ) : error ? (
        <ErrorState error={error} onRetry={refetch} />
      ) : (
        <BoneRows />
      )}
    </>
  )
}

/** The last step that the person may open. */
function farthest(draft: Draft): Step {
  if (faultOfText(draft)) return 1
  if (!reportOf(draft)?.willBeSent) return 2
  return faultOfWhen(draft.when) ? 3 : 4
}

function StepBody({ step, use, offer }: { step: Step } & StepProps) {
  if (step === 1) return <TextStep use={use} offer={offer} />
  if (step === 2) return <RecipientsStep use={use} offer={offer} />
  if (step === 3) return <WhenStep use={use} offer={offer} />
  return <CheckStep use={use} offer={offer} />
}

function Head({ use: { draft, discard } }: { use: DraftUse }) {
  const { say } = useWords()
  const { time } = useFormats()
  const goTo = useGoTo()
  const startAnew = async () => {
    await discard()
    goTo(1)
    tellDone(say('new.discarded'))
  }
  return (
    <PageHead
      title={draft.name.trim() || say('new.title')}
      note={draft.savedAt ? say('new.saved', { time: time(draft.savedAt).replace(/:\d\d$/, '') }) : say('new.unsaved')}
      actions={draft.savedAt && <Button onClick={startAnew}>{say('new.discard')}</Button>}
    />
  )
}

function StepList({ step, draft }: { step: Step; draft: Draft }) {
  const { say } = useWords()
  const goTo = useGoTo()
  const last = farthest(draft)
  return (
    <ol className={styles.steps} aria-label={say('new.steps')}>
      {steps.map(one => (
        <li key={one} aria-current={one === step ? 'step' : undefined} className={one < step ? styles.done : ''}>
          <button type="button" disabled={one > last} onClick={() => goTo(one)}>
            <i>{one < step ? <Icon name="check" size={14} /> : one}</i>
            <span>{say(stepNames[one])}</span>
          </button>
        </li>
      ))}
    </ol>
  )
}

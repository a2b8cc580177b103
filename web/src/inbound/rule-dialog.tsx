import { TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useId, useState } from 'react'
import type { InboundRuleChange, NewInboundRule } from '../../../src/http/cabinet/messages/inbound.ts'
import { ask } from '../api.ts'
import { Dialog } from '../parts/dialogs/dialog.tsx'
import { tellDone } from '../parts/dialogs/toast.tsx'
import { FormProblem } from '../parts/forms/form-problem.tsx'
import { useKept } from '../parts/forms/kept-form.ts'
import { describeProblem } from '../problems.ts'
import { useWords } from '../words/words.ts'
import styles from './inbound.module.css'
import { INBOUND, pathOf, type Rule, type Rules } from './inbound.ts'

/** Only messages of this channel are stored. */
const CHANNEL = 'WHATSAPP'

type Props = { companyId: number; rules: Rules; rule?: Rule; onClose(): void }

/** Adds a rule, or changes a rule and leaves its place in the order. */
export function RuleDialog({ companyId, rules, rule, onClose }: Props) {
  const words = useWords()
  const { say } = words
  const kept = useKept(`rule ${rule?.ruleId ?? 'new'}`, startOf(rules, rule))
  const { change } = kept
  const { names, center, url } = kept.draft
  const [isChecked, setIsChecked] = useState(false)
  const save = useSave(companyId, rule, () => {
    kept.forget()
    onClose()
  })
  const isGoodUrl = /^https?:\/\/\S+$/i.test(url.trim())
  const submit = () => {
    setIsChecked(true)
    if (isGoodUrl && center.trim() !== '') save.mutate({ names, center: center.trim(), url: url.trim() })
  }
  return (
    <Dialog
      title={say(rule ? 'inbound.rule.change.title' : 'inbound.rule.add.title')}
      text={say('inbound.rule.add.text')}
      submit={say(rule ? 'inbound.rule.change.submit' : 'inbound.rule.add')}
      isBusy={save.isPending}
      kept={kept}
      onSubmit={submit}
      onClose={onClose}
    >
      {save.isError && <FormProblem>{describeProblem(words, save.error)}</FormProblem>}
      <NamesChoice known={namesIn(rules, rule)} chosen={names} onChange={names => change({ names })} />
      <CenterField
        value={center}
        centers={rules.centers}
        problem={isChecked && center.trim() === '' && say('inbound.center.empty')}
        onChange={center => change({ center })}
      />
      <UrlField
        value={url}
        problem={isChecked && !isGoodUrl && say('inbound.rule.url.wrong')}
        onChange={url => change({ url })}
      />
    </Dialog>
  )
}

type FieldProps = { value: string; problem: string | false; onChange(value: string): void }

function CenterField({ value, centers, problem, onChange }: FieldProps & Pick<Rules, 'centers'>) {
  const { say } = useWords()
  const list = useId()
  return (
    <>
      <TextInput
        label={say('inbound.center')}
        description={say('inbound.rule.center.help')}
        list={list}
        autoComplete="off"
        maxLength={100}
        error={problem}
        value={value}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      />
      <datalist id={list}>
        {centers.map(({ centerId, name }) => (
          <option key={centerId} value={name} />
        ))}
      </datalist>
    </>
  )
}

function UrlField({ value, problem, onChange }: FieldProps) {
  const { say } = useWords()
  return (
    <TextInput
      label={say('inbound.rule.url')}
      description={say('inbound.rule.url.help')}
      placeholder="https://shop.example/inbound"
      type="url"
      autoComplete="off"
      spellCheck={false}
      maxLength={2048}
      error={problem}
      value={value}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  )
}

const startOf = ({ centers }: Rules, rule: Rule | undefined): Given => ({
  names: rule?.senderNames ?? [],
  center: rule?.centerName ?? centers.find(({ isDefault }) => isDefault)?.name ?? '',
  url: rule?.callbackUrl ?? '',
})

/** Also contains the names of the rule, because a name may have been deleted since. */
const namesIn = ({ names }: Rules, rule: Rule | undefined) => [
  ...new Set([...names.map(({ senderName }) => senderName), ...(rule?.senderNames ?? [])]),
]

type Given = { names: string[]; center: string; url: string }

/** A change sends only the values that differ, because the page does not know the password in a stored address. */
function useSave(companyId: number, rule: Rule | undefined, onClose: () => void) {
  const { say } = useWords()
  const client = useQueryClient()
  const add = ({ names, center, url }: Given) => {
    const body: NewInboundRule = { channelType: CHANNEL, senderNames: names, center, callbackUrl: url }
    return ask<unknown>('POST', pathOf(companyId, '/rules'), body)
  }
  const change = (rule: Rule, { names, center, url }: Given) => {
    const { senderNames, centerId, centerName, callbackUrl, ruleId } = rule
    const body: InboundRuleChange = {
      seen: { senderNames, centerId, callbackUrl: callbackUrl ?? '' },
      ...(names.toSorted().join('\n') === senderNames.toSorted().join('\n') ? {} : { senderNames: names }),
      ...(center === centerName ? {} : { center }),
      ...(url === callbackUrl ? {} : { callbackUrl: url }),
    }
    return ask<unknown>('PATCH', pathOf(companyId, `/rules/${ruleId}`), body)
  }
  return useMutation({
    mutationFn: (given: Given) => (rule ? change(rule, given) : add(given)),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: INBOUND })
      tellDone(say(rule ? 'inbound.rule.changed' : 'inbound.rule.added'))
      onClose()
    },
  })
}

type NamesProps = { known: string[]; chosen: string[]; onChange(names: string[]): void }

function NamesChoice({ known, chosen, onChange }: NamesProps) {
  const { say } = useWords()
  return (
    <fieldset className={styles.names}>
      <legend>{say('inbound.to')}</legend>
      <p className="note small">{say(known.length > 0 ? 'inbound.rule.names.help' : 'inbound.rule.names.none')}</p>
      {known.map(name => (
        <label key={name}>
          <input
            type="checkbox"
            checked={chosen.includes(name)}
            onChange={({ currentTarget }) =>
              onChange(currentTarget.checked ? [...chosen, name] : chosen.filter(other => other !== name))
            }
          />
          {name}
        </label>
      ))}
    </fieldset>
  )
}

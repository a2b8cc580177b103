import { Menu } from '@mantine/core'
import { useFormats } from '../../format.ts'
import { Icon } from '../../parts/content/icon.tsx'
import { ButtonMenu } from '../../parts/dialogs/button-menu.tsx'
import { useTrafficNames } from '../../parts/names/traffic-names.ts'
import { useWords } from '../../words/words.ts'
import { channelNames, operatorNames, reasonCodes, statusNames } from '../names.ts'
import { dayBack, isEmptySearch, listOf, type MessageSearch, periods } from '../search.ts'
import styles from './messages.module.css'

type Change = (change: Partial<MessageSearch>) => void
type Props = {
  search: MessageSearch
  dispatchName: string | undefined
  /** Without a period the search covers everything, not only the last day. */
  isAtAnyTime: boolean
  onChange: Change
}
type Option = { value: string; label: string }

/** The filters. Each is a menu whose button shows the choice. */
export function FilterChips({ search, dispatchName, isAtAnyTime, onChange }: Props) {
  const { say } = useWords()
  const { channel, operator, reason } = useTrafficNames()
  const statuses = statusNames.map(value => ({ value, label: say(`messages.status.${value}`) }))
  const channels = channelNames.map(value => ({ value, label: channel(value) }))
  const operators = operatorNames.map(value => ({ value, label: operator(value === 'OTHER' ? null : value) }))
  const reasons = reasonCodes.map(code => ({ value: String(code), label: reason(code) }))
  return (
    <fieldset className={styles.chips} aria-label={say('messages.filters')}>
      <PeriodChip search={search} isAtAnyTime={isAtAnyTime} onChange={onChange} />
      <ListChip
        name={say('messages.status')}
        options={statuses}
        chosen={search.status}
        onChange={status => onChange({ status })}
      />
      <ListChip
        name={say('messages.filter.operator')}
        options={operators}
        chosen={search.operator}
        onChange={operator => onChange({ operator })}
      />
      <ListChip
        name={say('messages.filter.channel')}
        options={channels}
        chosen={search.channel}
        onChange={channel => onChange({ channel })}
      />
      <ListChip
        name={say('messages.filter.error')}
        options={reasons}
        chosen={search.error?.toString()}
        isOne
        onChange={error => onChange({ error: error === undefined ? undefined : Number(error) })}
      />
      {search.dispatch !== undefined && (
        <span className={`${styles.chip} ${styles.set}`}>
          {say('messages.filter.dispatch')} <b>{dispatchName ?? `#${search.dispatch}`}</b>
          <Remove name={say('messages.filter.dispatch')} onClick={() => onChange({ dispatch: undefined })} />
        </span>
      )}
      {!isEmptySearch({ ...search, q: undefined }) && (
        <button type="button" className={`${styles.chip} ${styles.bare}`} onClick={() => onChange(nothing)}>
          {say('messages.filter.clear')}
        </button>
      )}
    </fieldset>
  )
}

const nothing: Partial<MessageSearch> = {
  status: undefined,
  channel: undefined,
  operator: undefined,
  error: undefined,
  dispatch: undefined,
  period: undefined,
  from: undefined,
  to: undefined,
}

function Remove({ name, onClick }: { name: string; onClick(): void }) {
  const { say } = useWords()
  return (
    <button
      type="button"
      className={styles.remove}
      onClick={onClick}
      aria-label={say('messages.filter.remove', { name })}
    >
      <Icon name="cross" size={12} />
    </button>
  )
}

type ListProps = {
  name: string
  options: Option[]
  chosen: string | undefined
  isOne?: boolean
  onChange(chosen: string | undefined): void
}

/** A menu in which a person chooses one or several values. */
function ListChip({ name, options, chosen, isOne = false, onChange }: ListProps) {
  const values = listOf<string>(chosen)
  const labels = options.filter(({ value }) => values.includes(value)).map(({ label }) => label)
  const choose = (value: string) => {
    if (isOne) return onChange(values.includes(value) ? undefined : value)
    const next = values.includes(value) ? values.filter(other => other !== value) : [...values, value]
    onChange(next.join(',') || undefined)
  }
  return (
    <span className={`${styles.chip} ${labels.length > 0 ? styles.set : ''}`}>
      <ButtonMenu
        position="bottom-start"
        closeOnItemClick={isOne}
        listClass={styles.options}
        button={
          <button type="button" className={styles.opener}>
            {labels.length === 0 && <Icon name="plus" size={14} />}
            {name} {labels.length > 0 && <b>{labels.join(', ')}</b>}
          </button>
        }
      >
        {options.map(({ value, label }) => (
          <Menu.Item
            key={value}
            onClick={() => choose(value)}
            aria-current={values.includes(value) || undefined}
            rightSection={values.includes(value) ? <Icon name="check" /> : null}
          >
            {label}
          </Menu.Item>
        ))}
      </ButtonMenu>
      {labels.length > 0 && <Remove name={name} onClick={() => onChange(undefined)} />}
    </span>
  )
}

function PeriodChip({ search, isAtAnyTime, onChange }: Pick<Props, 'search' | 'isAtAnyTime' | 'onChange'>) {
  const { say } = useWords()
  const { date } = useFormats()
  const now = new Date()
  const none = { period: undefined, from: undefined, to: undefined }
  const dayOf = (back: number) => ({ ...none, from: dayBack(now, back), to: dayBack(now, back) })
  const choices: [string, Partial<MessageSearch>][] = [
    [say('messages.period.hour'), { ...none, period: 'hour' }],
    [say(isAtAnyTime ? 'messages.period.any' : 'messages.period.day'), none],
    [say('messages.period.today'), dayOf(0)],
    [say('messages.period.yesterday'), dayOf(1)],
    ...periods
      .slice(1)
      .map((period): [string, Partial<MessageSearch>] => [
        say(period === 'week' ? 'messages.period.week' : 'messages.period.month'),
        { ...none, period },
      ]),
  ]
  const isChosen = (choice: Partial<MessageSearch>) =>
    choice.period === search.period && choice.from === search.from && choice.to === search.to
  const [known] = choices.find(([, choice]) => isChosen(choice)) ?? []
  const { from, to } = search
  const days = [from, to].map(day => (day === undefined ? '…' : date(`${day}T12:00:00`)))
  const label = known ?? (days[0] === days[1] ? days[0] : days.join(' – '))
  const isSet = search.period !== undefined || from !== undefined || to !== undefined
  return (
    <span className={`${styles.chip} ${styles.set}`}>
      <ButtonMenu
        position="bottom-start"
        button={
          <button type="button" className={styles.opener}>
            {say('messages.filter.period')} <b>{label}</b>
          </button>
        }
      >
        {choices.map(([name, choice]) => (
          <Menu.Item
            key={name}
            onClick={() => onChange(choice)}
            rightSection={isChosen(choice) ? <Icon name="check" /> : null}
          >
            {name}
          </Menu.Item>
        ))}
      </ButtonMenu>
      {isSet && <Remove name={say('messages.filter.period')} onClick={() => onChange(none)} />}
    </span>
  )
}

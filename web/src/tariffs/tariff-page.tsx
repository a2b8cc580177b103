import { Button, UnstyledButton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { ask } from '../api.ts'
import { useFormats } from '../format.ts'
import columns from '../parts/content/columns.module.css'
import { Pair, Pairs } from '../parts/content/pairs.tsx'
import { Section } from '../parts/content/section.tsx'
import { ConfirmDialog } from '../parts/dialogs/confirm-dialog.tsx'
import { BoneRows } from '../parts/lists/bones.tsx'
import { ErrorState } from '../parts/pages/error-state.tsx'
import { PageHead } from '../parts/pages/page-head.tsx'
import { useMe } from '../session.ts'
import { useWords } from '../words/words.ts'
import { ChangeDialog } from './changes/change-dialog.tsx'
import { EndDialog } from './changes/end-dialog.tsx'
import { useTariffFormats, useTariffNames } from './names.ts'
import { StepChart } from './steps/step-chart.tsx'
import { StepTable } from './steps/step-table.tsx'
import styles from './tariffs.module.css'
import { holdsNow, type OpenedTariff, TARIFFS, type Tariff, tariffQuery } from './tariffs.ts'

/** One tariff: its prices, the companies at each step, planned and earlier prices. */
export function TariffPage() {
  const { tariffId } = useParams({ from: '/shell/tariffs/$tariffId' })
  const { company } = useSearch({ from: '/shell' })
  const { data, error, refetch } = useQuery(tariffQuery(tariffId, company))
  if (!data) return error ? <ErrorState level={1} error={error} onRetry={refetch} /> : <BoneRows rows={6} />
  return <TariffDetails data={data} />
}

function TariffDetails({ data }: { data: OpenedTariff }) {
  const { say } = useWords()
  const names = useTariffNames()
  const [task, setTask] = useState<Task>()
  const mayChange = useMe().rights.includes('tariffs.change')
  const { tariff, partner } = data
  const current = data.periods.find(period => holdsNow(period)) ?? data.periods[0]
  return (
    <>
      <PageHead
        title={names.place(tariff)}
        note={<About data={data} />}
        actions={mayChange && current && <Actions isOwn={partner !== null} onTask={setTask} />}
      />
      <div className={columns.columns}>
        <div>
          <Section title={say('tariffs.steps')} note={names.counted(tariff.pricingModel)}>
            {tariff.steps.length > 1 && <StepChart steps={tariff.steps} marks={data.volumes} zone={data.zone} />}
            <StepTable tariff={tariff} zone={data.zone} />
          </Section>
        </div>
        <aside className={columns.aside}>
          <Volumes data={data} />
          <Periods data={data} mayChange={mayChange} />
        </aside>
      </div>
      {task === 'change' && current && (
        <ChangeDialog
          partner={partner}
          zone={data.zone}
          tariff={current}
          version={data.version}
          onClose={() => setTask(undefined)}
        />
      )}
      {task === 'end' && current && partner && (
        <EndDialog data={data} partner={partner} tariff={current} onClose={() => setTask(undefined)} />
      )}
    </>
  )
}

/** The owner of the tariff, its pricing model and its period, in one line. */
function About({ data: { tariff, partner, zone } }: { data: OpenedTariff }) {
  const { say } = useWords()
  const names = useTariffNames()
  const { since, day } = useTariffFormats(zone)
  const { validFrom, until } = tariff
  const isOver = until !== null && Date.parse(until) <= Date.now()
  return (
    <>
      <Link to="/tariffs" search={{ book: partner?.partnerId }} className="link">
        {partner ? say('tariffs.ownOf', { login: partner.login }) : say('tariffs.general')}
      </Link>
      {' · '}
      {names.model(tariff.pricingModel)}
      {' · '}
      {isOver
        ? say('tariffs.over', { from: since(validFrom), to: day(until) })
        : say('tariffs.since', { from: since(validFrom) })}
    </>
  )
}

type Task = 'change' | 'end'

function Actions({ isOwn, onTask }: { isOwn: boolean; onTask(task: Task): void }) {
  const { say } = useWords()
  return (
    <>
      {isOwn && <Button onClick={() => onTask('end')}>{say('tariffs.end')}</Button>}
      <Button variant="filled" onClick={() => onTask('change')}>
        {say('tariffs.change')}
      </Button>
    </>
  )
}

function Volumes({ data: { volumes, tariff } }: { data: OpenedTariff }) {
  const { say } = useWords()
  const { number } = useFormats()
  return (
    <Section title={say(tariff.pricingModel === 'MAU' ? 'tariffs.volume.recipients' : 'tariffs.volume.messages')}>
      {volumes.length > 0 ? (
        <Pairs>
          {volumes.map(({ companyId, name, count }) => (
            <Pair key={companyId} name={name}>
              {number(count)}
            </Pair>
          ))}
        </Pairs>
      ) : (
        <p className="note">{say(tariff.pricingModel === 'FIXED' ? 'tariffs.volume.fixed' : 'tariffs.volume.none')}</p>
      )}
    </Section>
  )
}

/** Present, planned and earlier prices. A planned price can be withdrawn. */
function Periods({ data, mayChange }: { data: OpenedTariff; mayChange: boolean }) {
  const { say } = useWords()
  const [withdrawn, setWithdrawn] = useState<Tariff>()
  const isPlanned = ({ validFrom }: Tariff) => validFrom !== null && Date.parse(validFrom) > Date.now()
  return (
    <Section title={say('tariffs.periods')}>
      <ul className={styles.periods}>
        {[...data.periods.toReversed(), ...data.earlier].map(period => (
          <Period
            key={period.tariffId}
            period={period}
            zone={data.zone}
            isOpen={period.tariffId === data.tariff.tariffId}
            onWithdraw={mayChange && isPlanned(period) ? () => setWithdrawn(period) : undefined}
          />
        ))}
      </ul>
      {withdrawn && <WithdrawDialog tariff={withdrawn} zone={data.zone} onClose={() => setWithdrawn(undefined)} />}
    </Section>
  )
}

type PeriodProps = { period: Tariff; zone: string; isOpen: boolean; onWithdraw: (() => void) | undefined }

function Period({ period, zone, isOpen, onWithdraw }: PeriodProps) {
  const { say } = useWords()
  const { span, since, day } = useTariffFormats(zone)
  const time =
    period.until === null
      ? say('tariffs.since', { from: since(period.validFrom) })
      : say('tariffs.over', { from: since(period.validFrom), to: day(period.until) })
  return (
    <li>
      <span>
        {isOpen ? (
          <b>{time}</b>
        ) : (
          <Link to="/tariffs/$tariffId" params={{ tariffId: period.tariffId }} className="link">
            {time}
          </Link>
        )}
      </span>
      <span className={styles.figure}>{span(period.steps)}</span>
      {onWithdraw && (
        <UnstyledButton className="link" onClick={onWithdraw}>
          {say('tariffs.withdraw')}
        </UnstyledButton>
      )}
    </li>
  )
}

function WithdrawDialog({ tariff, zone, onClose }: { tariff: Tariff; zone: string; onClose(): void }) {
  const { say } = useWords()
  const { since } = useTariffFormats(zone)
  return (
    <ConfirmDialog
      title={say('tariffs.withdraw.title', { day: since(tariff.validFrom) })}
      text={say('tariffs.withdraw.text')}
      submit={say('tariffs.withdraw')}
      isDangerous
      change={() => ask<void>('DELETE', `/tariffs/${tariff.tariffId}`)}
      stale={[TARIFFS]}
      done={say('tariffs.withdrawn')}
      onClose={onClose}
    />
  )
}

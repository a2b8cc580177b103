import { Button, NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { Icon } from '../parts/content/icon.tsx'
import { useIsDrawn } from '../parts/first-drawing.ts'
import { BoneRows } from '../parts/lists/bones.tsx'
import { Blank } from '../parts/pages/blank.tsx'
import { ErrorState } from '../parts/pages/error-state.tsx'
import { PageHead } from '../parts/pages/page-head.tsx'
import { useMe } from '../session.ts'
import { useWords } from '../words/words.ts'
import { ChangeDialog } from './changes/change-dialog.tsx'
import { OtherPrices } from './other-prices.tsx'
import { TariffTables } from './tariff-tables.tsx'
import { TariffTabs } from './tariff-tabs.tsx'
import styles from './tariffs.module.css'
import { type Book, bookQuery, exportAddress } from './tariffs.ts'

/** The general tariffs, or the own tariffs of a partner. */
export function TariffsPage() {
  const { say } = useWords()
  const { book } = useSearch({ from: '/shell/tariffs' })
  const mayChange = useMe().rights.includes('tariffs.change')
  const [isAdding, setIsAdding] = useState(false)
  const { data, error, refetch } = useQuery(bookQuery(book))
  return (
    <>
      <PageHead
        title={say('tariffs.title')}
        note={say('tariffs.note')}
        actions={
          <>
            <Button component="a" href={exportAddress(book)} download leftSection={<Icon name="download" />}>
              {say('tariffs.export')}
            </Button>
            {mayChange && (
              <Button renderRoot={props => <Link {...props} to="/tariffs/import" search={{ book }} />}>
                {say('tariffs.import')}
              </Button>
            )}
          </>
        }
      />
      <TariffTabs />
      {data ? (
        <>
          <BookChoice data={data} onAdd={mayChange ? () => setIsAdding(true) : undefined} />
          <Shown data={data} />
        </>
      ) : error ? (
        <ErrorState error={error} onRetry={refetch} />
      ) : (
        <BoneRows rows={8} />
      )}
      {isAdding && data && <ChangeDialog partner={data.partner} zone={data.zone} onClose={() => setIsAdding(false)} />}
    </>
  )
}

function BookChoice({ data, onAdd }: { data: Book; onAdd: (() => void) | undefined }) {
  const { say } = useWords()
  const navigate = useNavigate()
  const choose = (value: string) =>
    void navigate({ to: '.', search: before => ({ ...before, book: value === '' ? undefined : Number(value) }) })
  return (
    <div className={styles.choice}>
      <NativeSelect
        label={say('tariffs.book')}
        value={data.partner?.partnerId ?? ''}
        onChange={({ currentTarget }) => choose(currentTarget.value)}
      >
        <option value="">{say('tariffs.general')}</option>
        <Partners label={say('tariffs.own')} books={data.books.filter(({ hasOwn }) => hasOwn)} />
        <Partners label={say('tariffs.likeGeneral')} books={data.books.filter(({ hasOwn }) => !hasOwn)} />
      </NativeSelect>
      {onAdd && (
        <Button leftSection={<Icon name="plus" />} onClick={onAdd}>
          {say(data.partner ? 'tariffs.addOwn' : 'tariffs.add')}
        </Button>
      )}
    </div>
  )
}

const Partners = ({ label, books }: { label: string; books: Book['books'] }) =>
  books.length > 0 && (
    <optgroup label={label}>
      {books.map(({ partnerId, login }) => (
        <option key={partnerId} value={partnerId}>
          {login}
        </option>
      ))}
    </optgroup>
  )

function Shown({ data }: { data: Book }) {
  const { say } = useWords()
  const isDrawn = useIsDrawn() // other prices are below the tariffs, which fill a screen
  const mayChange = useMe().rights.includes('tariffs.change')
  if (data.partner && data.tariffs.length === 0)
    return (
      <Blank
        drawing="bird"
        title={say('tariffs.noneOwn.title', { login: data.partner.login })}
        text={say('tariffs.noneOwn.text')}
      />
    )
  return (
    <>
      <TariffTables tariffs={data.tariffs} zone={data.zone} isLinked />
      {isDrawn && data.partner === null && (
        <OtherPrices prices={data} {...(mayChange ? { pricedCountries: data.pricedCountries } : {})} />
      )}
    </>
  )
}

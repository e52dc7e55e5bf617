import { useMutation, useQueryClient } from "@tanstack/react-query"
import type { SettingJson } from "../../schema/settings/SettingsList.ts"
import { call } from "../service/berth.ts"
import { useCall } from "../service/queries.ts"

/** New values, by setting name. */
export type Draft = Readonly<Record<string, SettingJson>>

/** Fetches all settings, with the reason if the caller may not change them. */
export const useSettings = (enabled = true) => useCall(["settings"], (berth) => berth.listSettings({}), { enabled })

/** Plans a change of the settings file, and makes it. */
export const useSettingsChange = (onChanged: () => void = () => undefined) => {
  const queries = useQueryClient()
  const plan = useMutation({
    mutationFn: (settings: Draft) =>
      call((berth) => berth.changeSettings({ payload: { settings }, urlParams: { plan: "true" } }))
  })
  const change = useMutation({
    mutationFn: (settings: Draft) => call((berth) => berth.changeSettings({ payload: { settings }, urlParams: {} })),
    onSuccess: async () => {
      onChanged()
      plan.reset()
      await queries.invalidateQueries()
    }
  })
  return { plan, change }
}

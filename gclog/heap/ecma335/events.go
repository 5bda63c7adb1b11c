package ecma335

// EventFields returns the fields of objects that contain the subscribers of events, by the token of the
// type that declares them. A compiler names such a field after its event.
func (a *Assembly) EventFields() (map[uint32][]Field, error) {
	maps, err := a.load(tableEventMap)
	if err != nil {
		return nil, err
	}
	events, err := a.load(tableEvent)
	if err != nil {
		return nil, err
	}
	fields, err := a.load(tableField)
	if err != nil || a.tables[tableEventPtr].rows > 0 { // which only metadata that was edited has
		return nil, err
	}
	all := map[uint32][]Field{}
	for row := 1; row <= maps.rows; row++ {
		owner, from, to := int(maps.cell(row, 0)), int(maps.cell(row, 1)), events.rows+1
		if row < maps.rows {
			to = int(maps.cell(row+1, 1))
		}
		if from == 0 || from > to || to > events.rows+1 || !a.exists(reference{tableTypeDef, owner}) {
			return nil, damage("the events of type %d are %d to %d of %d", owner, from, to-1, events.rows)
		}
		names := map[string]bool{}
		for i := from; i < to; i++ {
			name, err := a.string(events.cell(i, 1))
			if err != nil {
				return nil, err
			}
			names[name] = true
		}
		token := tokenTypeDef | uint32(owner)
		if all[token], err = a.fieldsNamed(fields, owner, names); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// fieldsNamed returns the fields of objects of a type that have one of the names and are of a class.
func (a *Assembly) fieldsNamed(fields *table, owner int, names map[string]bool) (list []Field, err error) {
	from, to, err := a.fieldsOf(owner)
	if err != nil {
		return nil, err
	}
	for i := from; i < to; i++ {
		row, err := a.fieldAt(i)
		if err != nil {
			return nil, err
		}
		if fields.cell(row, 0)&fieldStatic != 0 {
			continue
		}
		name, err := a.string(fields.cell(row, 1))
		if err != nil {
			return nil, err
		}
		if !names[name] {
			continue
		}
		f, err := a.field(fields, row)
		if err != nil {
			return nil, err
		}
		if f.Type != "" {
			f.Owner = tokenTypeDef | uint32(owner)
			list = append(list, f)
		}
	}
	return list, nil
}

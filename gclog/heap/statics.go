package heap

func (r *resolver) declare(g *Graph) {}
